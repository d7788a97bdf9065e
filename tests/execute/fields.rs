//! Fields over named axes: functions of the library on random axes, at each position and size,
//! against a model; the same in every executor. `FELIS_SEED` repeats a run.

use crate::meshes::kernels;
use crate::random::{Dice, run};

/// An array over axes of these sizes, in order, with the sizes of all axes.
#[derive(Clone)]
struct Field {
    sizes: Vec<usize>,
    elements: Vec<i64>,
}

impl Field {
    /// Returns the sizes before an axis, of the axis, and after it, multiplied.
    fn around(&self, axis: usize) -> (usize, usize, usize) {
        let product = |sizes: &[usize]| sizes.iter().product();
        (product(&self.sizes[..axis]), self.sizes[axis], product(&self.sizes[axis + 1..]))
    }

    /// Returns the field with the elements along an axis replaced.
    fn along(&self, axis: usize, of: impl Fn(&[i64]) -> Vec<i64>) -> Field {
        let (left, own, right) = self.around(axis);
        let lines: Vec<Vec<i64>> = (0..left * right)
            .map(|i| {
                let (l, r) = (i / right.max(1), i % right.max(1));
                of(&(0..own).map(|k| self.elements[(l * own + k) * right + r]).collect::<Vec<_>>())
            })
            .collect();
        let new = lines[0].len();
        let mut elements = vec![0; left * new * right];
        for (i, line) in lines.iter().enumerate() {
            let (l, r) = (i / right.max(1), i % right.max(1));
            for (k, value) in line.iter().enumerate() {
                elements[(l * new + k) * right + r] = *value;
            }
        }
        let mut sizes = self.sizes.clone();
        sizes[axis] = new;
        Field { sizes, elements }
    }
}

/// Returns the index in an axis of size `n` of the position `at`, counted from the first index, for
/// a boundary condition; `None` for the value `held`.
fn source(condition: &str, at: i64, n: i64) -> Option<i64> {
    match condition {
        "clamped" => Some(at.clamp(0, n - 1)),
        "periodic" => Some(at.rem_euclid(n)),
        "mirrored" => {
            let p = at.rem_euclid(2 * n);
            Some(p.min(2 * n - 1 - p))
        }
        _ => (0..n).contains(&at).then_some(at),
    }
}

#[test]
fn functions_find_their_axis_at_every_position() {
    let mut dice = Dice::seeded();
    for _ in 0..crate::random::number("FELIS_RANDOM").unwrap_or(40) {
        let rank = 1 + dice.roll(4);
        let sizes: Vec<usize> = (0..rank).map(|_| 1 + dice.roll(4)).collect();
        let total: usize = sizes.iter().product();
        let elements: Vec<i64> = (0..total).map(|_| dice.roll(100) as i64 - 50).collect();
        let field = Field { sizes, elements };
        let axis = dice.roll(rank);
        let names: Vec<String> = (0..rank).map(|i| format!("A{i}")).collect();
        let mut program = String::new();
        for (name, size) in names.iter().zip(&field.sizes) {
            program += &format!("newtype {name} = {size};\n");
        }
        // A product within the product, at random.
        let mut written = names.clone();
        if rank > 2 && dice.roll(2) == 0 {
            let at = dice.roll(rank - 1);
            let pair = format!("({} \\* {})", written[at], written[at + 1]);
            written.splice(at..at + 2, [pair]);
        }
        let list = field.elements.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        program += &format!("val u = [{list}] :>> int ^ ({});\n", written.join(" \\* "));
        let k = &names[axis];
        let mut expected: Vec<Field> = Vec::new();
        let mut show = |text: String, field: Field| {
            program
                .push_str(&format!("println [ v for v in ({text}) :>> int ^ {} ];\n", field.elements.len()));
            expected.push(field);
        };
        // With no axis left the result is no array.
        if rank > 1 {
            show(format!("sum_over[{k}] u"), field.along(axis, |line| vec![line.iter().sum()]));
            show(format!("max_over[{k}] u"), field.along(axis, |line| vec![*line.iter().max().unwrap()]));
        }
        show(
            format!("scan_over[{k}] (fun (a, b) => a + b) u"),
            field.along(axis, |line| {
                line.iter()
                    .scan(0, |sum, v| {
                        *sum += v;
                        Some(*sum)
                    })
                    .collect()
            }),
        );
        show(format!("flip_over[{k}] u"), field.along(axis, |line| line.iter().rev().copied().collect()));
        show(
            format!("map_accum_back[{k}] (fun (s, v) => (v, v - s)) 7 u"),
            field.along(axis, |line| {
                let next = |i: usize| line.get(i + 1).copied().unwrap_or(7);
                (0..line.len()).map(|i| line[i] - next(i)).collect()
            }),
        );
        let h = 1 + dice.roll(3) as i64;
        let offset = dice.roll(2 * h as usize + 1) as i64 - h;
        let condition = ["clamped", "periodic", "mirrored", "held"][dice.roll(4)];
        let value = if condition == "held" { " 5" } else { "" };
        let halo =
            |line: &[i64], at: i64| source(condition, at, line.len() as i64).map_or(5, |i| line[i as usize]);
        let haloed = format!("{condition}[{h}, {k}]{value} u");
        show(
            format!("moved ({offset}) ({haloed})"),
            field.along(axis, |line| (0..line.len() as i64).map(|i| halo(line, i + offset)).collect()),
        );
        show(haloed, field.along(axis, |line| (-h..line.len() as i64 + h).map(|i| halo(line, i)).collect()));
        show(
            format!(
                "below (on_half (fun (a:int) => a, fun (a:int, b:int) => b - a, fun (a:int) => -a) \
                 (u :>> int ^ {total}))"
            ),
            Field {
                sizes: vec![total],
                elements: (1..=total)
                    .map(|i| {
                        if i == total {
                            -field.elements[i - 1]
                        } else {
                            field.elements[i] - field.elements[i - 1]
                        }
                    })
                    .collect(),
            },
        );
        let text: String = expected
            .iter()
            .map(|field| {
                let all: Vec<String> = field.elements.iter().map(i64::to_string).collect();
                if all.len() == 1 { format!("[{}]\n", all[0]) } else { format!("({})\n", all.join(", ")) }
            })
            .collect();
        assert_eq!(run(&program), text, "{program}");
    }
}

#[test]
fn fields_are_aligned_by_the_names_of_their_axes() {
    let mut dice = Dice::seeded();
    for _ in 0..crate::random::number("FELIS_RANDOM").unwrap_or(40) {
        let rank = 2 + dice.roll(3);
        let sizes: Vec<usize> = (0..rank).map(|_| 1 + dice.roll(3)).collect();
        let mut order: Vec<usize> = (0..rank).collect();
        for i in (1..rank).rev() {
            order.swap(i, dice.roll(i + 1));
        }
        let kept: Vec<usize> = (0..rank).filter(|_| dice.roll(2) == 0).collect();
        let kept = if kept.is_empty() { vec![0] } else { kept };
        let product = |axes: &[usize]| -> String {
            axes.iter().map(|a| format!("A{a}")).collect::<Vec<_>>().join(" \\* ")
        };
        let count = |axes: &[usize]| axes.iter().map(|a| sizes[*a]).product::<usize>();
        let all: Vec<usize> = (0..rank).collect();
        // The position in an array over `from` of the element at a position in one over `to`.
        let position = |at: usize, to: &[usize], from: &[usize]| {
            let mut rest = at;
            let mut digits = vec![0; rank];
            for axis in to.iter().rev() {
                digits[*axis] = rest % sizes[*axis];
                rest /= sizes[*axis];
            }
            from.iter().fold(0, |at, axis| at * sizes[*axis] + digits[*axis])
        };
        let mut program: String = (0..rank).map(|a| format!("newtype A{a} = {};\n", sizes[a])).collect();
        program += &format!("val u = #iota[{}] :>> int ^ ({});\n", count(&all), product(&all));
        program += &format!("val v = #iota[{}] :>> int ^ ({});\n", count(&kept), product(&kept));
        let n = count(&all);
        program += &format!("println [ x for x in (transpose_to[{}] u) :>> int ^ {n} ];\n", product(&order));
        program += &format!("println [ x for x in (over[{}] v) :>> int ^ {n} ];\n", product(&all));
        program += &format!("println [ x for x in (like u v) :>> int ^ {n} ];\n");
        let line = |of: &dyn Fn(usize) -> usize| {
            let all: Vec<String> = (0..n).map(|i| of(i).to_string()).collect();
            if n == 1 { format!("[{}]\n", all[0]) } else { format!("({})\n", all.join(", ")) }
        };
        let moved = line(&|i| position(i, &order, &all));
        let repeated = line(&|i| position(i, &all, &kept));
        assert_eq!(run(&program), format!("{moved}{repeated}{repeated}"), "{program}");
    }
}

/// Compositions of functions on random axes, at sizes where compiled code takes indices apart and
/// puts them together: reductions and gathers through halos and halves of inner axes.
#[test]
fn compositions_are_the_same_in_every_executor() {
    let mut dice = Dice::seeded();
    const AXES: [(&str, usize); 4] = [("A", 2), ("B", 3), ("C", 5), ("D", 4)];
    for _ in 0..crate::random::number("FELIS_RANDOM").unwrap_or(60) {
        let mut axes: Vec<&str> = AXES.iter().map(|(name, _)| *name).collect();
        dice.shuffle(&mut axes);
        axes.truncate(2 + dice.roll(3));
        let mut program: String =
            AXES.iter().map(|(name, size)| format!("newtype {name} = {size};\n")).collect();
        let mut term = format!("[ (7 * (i :>> int) + 3) % 23 for i in ..[{}] ]", axes.join(" \\* "));
        for step in 0..2 + dice.roll(4) {
            let axis = axes[dice.roll(axes.len())];
            term = match dice.roll(8) {
                0..3 => {
                    let h = 1 + dice.roll(2);
                    let condition = ["clamped", "periodic", "mirrored", "held"][dice.roll(4)];
                    let value = if condition == "held" { " 9" } else { "" };
                    let halo = format!("({condition}[{h}, {axis}]{value} ({term}))");
                    let mut offset = || dice.roll(2 * h + 1) as i64 - h as i64;
                    let (a, b) = (offset(), offset());
                    format!("moved[{h}, {axis}] ({a}) {halo} + 2 * moved[{h}, {axis}] ({b}) {halo}")
                }
                3 | 4 => {
                    let function = ["above", "below", "delta"][dice.roll(3)];
                    let half = format!(
                        "on_half[{axis}] (fun (x:int) => x, fun (x:int, y:int) => y - 2 * x, fun (x:int) => -x)"
                    );
                    format!("{function}[{axis}] ({half} ({term}))")
                }
                5 => format!("flip_over[{axis}] ({term})"),
                6 => format!("map_accum_over[{axis}] (fun (s:int, v:int) => (s + v, s - v)) 1 ({term})"),
                _ if axes.len() > 1 => {
                    axes.retain(|one| *one != axis);
                    format!("sum_over[{axis}] ({term})")
                }
                _ => continue,
            };
            if dice.roll(3) == 0 {
                program += &format!("val u{step} = {term};\n");
                term = format!("u{step}");
            }
        }
        program += &format!("println ({term});\n");
        run(&program);
    }
}

#[test]
fn an_inner_axis_of_a_sum_is_read_where_it_is() {
    // The parts of an index over `A \* N \* C` are those of one over `A \* half[N] \* C` with other
    // weights.
    let program = "
        newtype A = 20; newtype N = 50; newtype C = 40;
        val w = [ i :>> int for i in ..[A \\* half[N] \\* C] ];
        println (sum (above w), sum (below w), sum (delta w));
    ";
    assert_eq!(run(program), "(815180000, 816780000, 1600000)\n");
}

#[test]
fn parts_of_fields_are_joined_chosen_and_replaced() {
    let program = "
        newtype I = 2; newtype J = 3; newtype K = 4;
        val u = #iota[24] :>> int ^ (I \\* J \\* K);
        val v = -#iota[8] :>> int ^ (I \\* K);
        val w = join_over[J, 1] (u, v :>> int ^ (I \\* 1 \\* K));
        val (a, b) = split_over[J, 1] w;
        println (a == u, [ x for x in b :>> int ^ 8 ]);
        println (select (like u [ (i :>> int) > 0 for i in ..[I] ], u, -u) :>> int ^ 24);
        println (take_over[J] [ j.around 1 for i in ..[I], j in ..[J], k in ..[K] ] u :>> int ^ 24);
        println (inside (with_inside (clamped[1, J] u) (-u)) == -u);
        println (split_over (pieces[3] #iota[10]));
        println (along[J] (fun (c:int ^ J) => [sum c, max c]) u);
    ";
    let printed = "(true, (0, -1, -2, -3, -4, -5, -6, -7))\n\
        (0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)\n\
        (4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 12, 13, 14, 15)\n\
        true\n\
        ((0, 1, 2, 3), (4, 5, 6, 7, 8, 9))\n\
        (12, 15, 18, 21, 8, 9, 10, 11, 48, 51, 54, 57, 20, 21, 22, 23)\n";
    assert_eq!(run(program), printed);
}

/// Random tridiagonal systems, dominant on the diagonal, in the middle of three axes.
#[test]
fn tridiagonal_systems_are_solved_along_an_axis() {
    let program = "
        newtype X = 5; newtype Z = 17; newtype Y = 3;
        fun some(a:int, b:int):real ^ (X \\* Z \\* Y) =>
          [ (((i :>> int) * a + 11) % b) :> real for i in ..[X \\* Z \\* Y] ];
        val (lower, upper, right) = (some (7, 5), some (13, 4), some (29, 97));
        val diagonal = some (3, 8) + 9.0;
        val x = thomas[Z] (lower, diagonal, upper, right);
        val before = moved (-1) (held[1, Z] 0.0 x);
        val after = moved 1 (held[1, Z] 0.0 x);
        val miss = lower * before + diagonal * x + upper * after - right;
        println (max [ if m < 0.0 then -m else m endif for m in miss ] < 1.0e-12);
    ";
    assert_eq!(run(program), "true\n");
}

#[test]
fn a_function_of_the_program_is_chosen_at_axes_in_products() {
    // The library's `mean` fits every array; that of the program works on one axis.
    let program = "
        newtype Side = 2; newtype Node = 3; newtype Edge = 2;
        fun mean[L:COMPACTLINEAR, R:COMPACTLINEAR](x:real ^ (..L \\* Side \\* ..R)):real ^ (..L \\* ..R) =>
          0.5 * sum_over[Side] x;
        fun sides[N:COMPACTLINEAR, E:COMPACTLINEAR, L:COMPACTLINEAR, R:COMPACTLINEAR](t:N ^ (E \\* Side))(
          u:real ^ (..L \\* N \\* ..R)
        ):real ^ (..L \\* E \\* ..R) => mean (through t u);
        val t = full_table[Node] ((0, 1, 1, 2) :>> int ^ (Edge \\* Side));
        println (sides t ((1.0, 2.0, 4.0) :>> real ^ Node));
    ";
    assert_eq!(run(program), "(1.5, 3.0)\n");
}

/// Operators along the axis `K` of a field `U`.
const OPERATORS: [&str; 11] = [
    "sum_over[K] U",
    "max_over[K] U",
    "scan_over[K] (fun (a:real, b:real) => a + b) U",
    "flip_over[K] U",
    "clamped[1, K] U",
    "mirrored[2, K] U",
    "moved (-1) (clamped[1, K] U) - 2.0 * U + moved 1 (clamped[1, K] U)",
    "delta[K] (on_half[K] (fun (a:real) => a, fun (a:real, b:real) => b - a, fun (a:real) => -a) U)",
    "map_accum_over[K] (fun (s:real, v:real) => (s + v, s)) 0.0 U",
    "map_accum_back[K] (fun (s:real, v:real) => (s + v, s)) 0.0 U",
    "thomas[K] (U, U + 9.0, U, U)",
];

/// The fields over axes of these sizes, and an operator along one axis of each.
fn along_axes(operator: &str, fields: &[(&[usize], usize)]) -> String {
    let mut program = String::new();
    for (at, (sizes, axis)) in fields.iter().enumerate() {
        let names: Vec<String> = (0..sizes.len()).map(|axis| format!("A{at}_{axis}")).collect();
        for (name, size) in names.iter().zip(*sizes) {
            program += &format!("newtype {name} = {size};\n");
        }
        // The elements are those of one list, so that only the operator differs.
        let total: usize = sizes.iter().product();
        program += &format!(
            "val u{at} = [ (i :>> int) :> real for i in ..[{total}] ] :>> real ^ ({});\n",
            names.join(" \\* ")
        );
        let text = operator.replace('K', &names[*axis]).replace('U', &format!("u{at}"));
        program += &format!("val r{at} = {text};\n");
    }
    program
}

// The structure of a kernel depends on sizes in a few ways: a sum of fewer than 32 terms, a loop
// that is too short for threads, working memory of at most 512 slots on the stack, two sizes that
// are one number. The sizes below decide nothing.

#[test]
fn an_operator_is_one_kernel_for_all_sizes_and_inner_positions() {
    for operator in OPERATORS {
        let one = kernels(&along_axes(operator, &[(&[36, 45, 58], 1)]));
        let sizes = [(&[36, 45, 58][..], 1), (&[37, 53, 66], 1), (&[39, 47, 71], 1), (&[60, 34, 99], 1)];
        assert_eq!(kernels(&along_axes(operator, &sizes)), one, "sizes: {operator}");
        // One or two axes before, one or two after.
        let positions: [(&[usize], usize); 4] =
            [(&[36, 45, 58], 1), (&[18, 40, 17, 29], 1), (&[18, 40, 51, 29], 2), (&[17, 18, 40, 19, 23], 2)];
        assert_eq!(kernels(&along_axes(operator, &positions)), one, "positions: {operator}");
    }
}

#[test]
fn the_first_and_the_last_axis_are_a_kernel_each_for_all_sizes() {
    for operator in OPERATORS {
        for first in [true, false] {
            let more: [(&[usize], usize); 3] = match first {
                true => [(&[36, 45, 58], 0), (&[71, 94], 0), (&[33, 12, 13, 17], 0)],
                false => [(&[36, 45, 58], 2), (&[1301, 94], 1), (&[12, 13, 11, 64], 3)],
            };
            let one = kernels(&along_axes(operator, &more[..1]));
            assert_eq!(kernels(&along_axes(operator, &more)), one, "{operator}, first: {first}");
        }
    }
}

#[test]
fn an_axis_without_indices_has_no_ends() {
    let ends = [
        "clamped[1, N] u",
        "mirrored[2, N] u",
        "periodic[1, N] u",
        "on_half (fun (a:real) => a, fun (a:real, b:real) => b - a, fun (a:real) => -a) u",
    ];
    for text in ends {
        let program = format!("newtype N = 0;\nval u = fill[N] 0.5;\nprintln ({text});\n");
        let message = "E0506: an axis without indices has no element at its ends\n";
        assert_eq!(run(&program), message, "{text}");
    }
    let program =
        "newtype N = 0;\nprintln (held[2, N] 0.5 (fill[N] 2.0), sum_over[N] (fill[N \\* 2] 2.0));\n";
    assert_eq!(run(program), "((0.5, 0.5, 0.5, 0.5), (0.0, 0.0))\n");
}

/// The product of a signature may end in an axis: `..L \* K`, and `..L \* ..R \* K` in a result.
#[test]
fn an_axis_may_be_the_last_of_a_product() {
    let program = r"
        newtype I = 2; newtype J = 3; newtype M = 2;
        fun total[K:COMPACTLINEAR, L:COMPACTLINEAR](x:int ^ (..L \* K)):int ^ (..L) {
          val y = x :>> int ^ (L \* K);
          return [ sum [ y.(l \, k) for k in ..[K] ] for l in ..[L] ] :>> int ^ (..L);
        }
        fun ends[K:COMPACTLINEAR, L:COMPACTLINEAR](x:int ^ (..L \* halo[1, K])):int ^ (..L \* K) => inside x;
        fun last[K:COMPACTLINEAR, L:COMPACTLINEAR, R:COMPACTLINEAR](
          x:int ^ (..L \* K \* ..R)
        ):int ^ (..L \* ..R \* K) => transpose_to[..L \* ..R \* K] x;
        fun one[X:COMPACTLINEAR, Y:COMPACTLINEAR, L:COMPACTLINEAR, S:COMPACTLINEAR](
          u:int ^ (..L \* X \* ..S \* Y)
        ):int ^ (..L \* X \* ..S) => sum_over[Y] u;
        val u = #iota[12] :>> int ^ (I \* J \* M);
        println (total[M] u, total (#iota[6] :>> int ^ (I \* J)));
        val e : int ^ (I \* J \* M) = ends (clamped[1, M] u);
        println (e == u);
        val a : int ^ (I \* J \* M) = last[M] u;
        val b : int ^ (I \* M \* J) = last[J] u;
        val c : int ^ I = last[I] (#iota[2] :>> int ^ I);
        println (a == u, b, c);
        println (sum_over[J] (last[I] u), last[I] u + transpose_to[J \* M \* I] u);
        println (one[I, M] u, one[J, M] u);
    ";
    let printed = "((1, 5, 9, 13, 17, 21), (3, 12))\n\
        true\n\
        (true, (0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11), (0, 1))\n\
        ((6, 24, 9, 27), (0, 12, 2, 14, 4, 16, 6, 18, 8, 20, 10, 22))\n\
        ((1, 5, 9, 13, 17, 21), (1, 5, 9, 13, 17, 21))\n";
    assert_eq!(run(program), printed);
}

/// Programs with what the messages of `tests/diagnostics/library_axis_help.flx` advise.
#[test]
fn what_is_advised_about_axes_computes_what_is_meant() {
    let program = r"
        newtype I = 4; newtype J = 5; newtype K = 3;
        fun lap[X:COMPACTLINEAR, L:COMPACTLINEAR, R:COMPACTLINEAR](
          u:int ^ (..L \* halo[1, X] \* ..R)
        ):int ^ (..L \* X \* ..R) => moved (-1) u - 2 * moved 0 u + moved 1 u;
        fun two[X:COMPACTLINEAR, Y:COMPACTLINEAR, L:COMPACTLINEAR, M:COMPACTLINEAR, R:COMPACTLINEAR](
          u:int ^ (..L \* halo[1, X] \* ..M \* halo[1, Y] \* ..R)
        ):int ^ (..L \* X \* ..M \* Y \* ..R) => lap[X] (inside[1, Y] u) + lap[Y] (inside[1, X] u);
        val u = [ ((i :>> int) * 17 + 5) % 23 for i in ..[I \* J \* K] ];
        val along_j = lap (clamped[1, J] u);
        println (lap[J] (clamped[1, J] u) == along_j, lap[J] (clamped[1, J] (clamped[1, I] u) |> inside[1, I]) == along_j);
        println (lap (inside[1, halo[1, J]] (clamped[2, J] u :>> int ^ (I \* halo[1, halo[1, J]] \* K))) == along_j);
        // Two operators: the one outside reads what the one inside has left of the halo.
        val twice = lap (lap (clamped[2, J] u :>> int ^ (I \* halo[1, halo[1, J]] \* K)));
        fun at(i:I, j:int, k:K):int => u.(i \, j.clamp[J] \, k);
        fun once(i:I, j:int, k:K):int => at (i, j - 1, k) - 2 * at (i, j, k) + at (i, j + 1, k);
        println (twice == [
          once (i, (j :>> int) - 1, k) - 2 * once (i, j :>> int, k) + once (i, (j :>> int) + 1, k)
          for i in ..[I], j in ..[J], k in ..[K]
        ]);
        println (moved[2, J] 2 (clamped[2, J] (inside[1, J] (clamped[1, J] u))) == moved 2 (clamped[2, J] u));
        println (two (clamped[1, I] (clamped[1, J] u)) == lap (clamped[1, I] u) + along_j);
        println (inside[1, K] (two[I, J] (clamped[1, K] (clamped[1, J] (clamped[1, I] u)))) == lap (clamped[1, I] u) + along_j);
        println (inside[2, J] (clamped[2, J] u) + inside[1, J] (clamped[1, J] u) == 2 * u);
        val h = fill[I \* half[K]] 1.0;
        println (mid[K] h + over[I \* K] (fill[K] 1.0) == fill[I \* K] 2.0);
        val m = [ (i :>> int) > 1 for i in ..[I] ];
        println (select (over[I \* J \* K] m, u, -u) == select (like u m, u, -u));
    ";
    assert_eq!(run(program), "(true, true)\n".to_string() + &"true\n".repeat(8));
}

#[test]
fn a_cyclic_axis_needs_no_halo() {
    let program = r"
        newtype I = 3; newtype K = 5;
        val u = [ ((i :>> int) * 7 + 2) % 11 for i in ..[I \* cyclic[K]] ];
        val h = periodic[2, cyclic[K]] u;
        println (rotate_over[cyclic[K]] 1 u == moved 1 h, rotate_over[cyclic[K]] (-2) u == moved (-2) h);
        println (rotate_over[I] 4 u == rotate_over[I] 1 u);
        println (rotate_over[3] 1 (#iota[3]) == rotate 1 #iota[3]);
    ";
    assert_eq!(run(program), "(true, true)\ntrue\ntrue\n");
}

#[test]
fn functions_of_fields_keep_single_precision() {
    let program = r"
        newtype I = 2; newtype K = 3;
        val levels = [ (i :>> int) :> f32 for i in ..[I \* half[K]] ];
        val m : f32 ^ (I \* K) = mid levels;
        println m;
        val t : f32 ^ K = thomas ((0.0f32, 1.0f32, 1.0f32) :>> f32 ^ K, (2.0f32, 2.5f32, 2.5f32) :>> f32 ^ K,
          (1.0f32, 1.0f32, 0.0f32) :>> f32 ^ K, (4.0f32, 9.0f32, 9.5f32) :>> f32 ^ K);
        println t;
    ";
    assert_eq!(run(program), "(0.5, 1.5, 2.5, 4.5, 5.5, 6.5)\n(1.0, 2.0, 3.0)\n");
}

/// Several fields are one field of tuples or records, without a copy of them.
#[test]
fn a_state_goes_along_several_fields() {
    let program = r"
        newtype J = 2; newtype K = 3;
        val (a, b) = (#iota[6] :>> int ^ (J \* K), fill[J \* K] 2);
        val both = map_accum_over[K] (fun (s:int, (x, y)) => (s + x * y, (s, x - y))) 1 (zip (a, b));
        println (unzip both);
        val named = [ (x = p, y = q) for (p, q) in zip (a, b) ];
        println (map_accum_back[J] (fun (s:int, v) => (s + v.x, s * v.y)) 0 named);
    ";
    assert_eq!(run(program), "((1, 1, 3, 1, 7, 15), (-2, -1, 0, 1, 2, 3))\n(6, 8, 10, 0, 0, 0)\n");
}

#[test]
fn labels_are_patterns() {
    let program = r"
        newtype Level = -1..3;
        fun height(i:Level):int => match i with | -1 => 7 | 0 | 1 => 8 | 3 => 9 | _ => 0 endmatch;
        println [ height i for i in ..[Level] ];
        println [ match k with | -1 => -10 | 0 => 0 | 1 => 10 endmatch for k in ..[span[1]] ];
    ";
    assert_eq!(run(program), "(7, 8, 8, 0, 9)\n(-10, 0, 10)\n");
}

#[test]
fn a_number_that_is_no_label_is_named_with_the_labels() {
    for (term, message) in [
        ("(2).at[span[1]]", "2 is no label of span[1], whose labels go from -1 to 1"),
        ("(1994).at[Year]", "1994 is no label of Year, whose labels go from 1990 to 1993"),
        ("(-1).at[Year]", "-1 is no label of Year, whose labels go from 1990 to 1993"),
        ("pieces[0] #iota[3]", "an array is cut into one piece at least"),
    ] {
        let said = crate::random::run(&format!("newtype Year = 1990..1993; println ({term});"));
        assert!(said.contains(message), "{term}: {said}");
    }
}

/// Every program of `examples/` on fields and meshes prints its `.out` with any number of threads.
#[test]
fn examples_print_the_same_with_any_number_of_threads() {
    let names = [
        "advection",
        "diffusion",
        "horizontal_diffusion",
        "hydrostatic",
        "implicit_diffusion",
        "mesh",
        "mixed_heat",
        "pagerank",
        "shallow_water",
    ];
    for name in names {
        let path = format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"));
        let expected = std::fs::read_to_string(format!("{path}.out")).expect("an `.out` beside it");
        for threads in ["1", "2", "7"] {
            let run = std::process::Command::new(env!("CARGO_BIN_EXE_felis"))
                .arg(format!("{path}.flx"))
                .env("FELIS_EXECUTOR", "eager")
                .env("FELIS_THREADS", threads)
                .output()
                .expect("the program starts");
            assert!(run.status.success(), "{name}: {}", String::from_utf8_lossy(&run.stderr));
            assert_eq!(String::from_utf8_lossy(&run.stdout), expected, "{name}, {threads} threads");
        }
    }
}
