//! Previews of values: bounded texts of a value that a frontend lays out.
//!
//! Takes a value with its type and the size of a window; gives its parts as a line of elements, a
//! grid, a table or fields, with the middle of long sequences omitted. The work depends on the
//! window, not on the size of the value.

use super::evaluator::{AbruptCompletion, Evaluator, Result};
use super::machine::{Host, Machine};
use super::overrides::Overrides;
use super::show::{self, Abbreviation};
use crate::core::Program;
use crate::layout::Layout;
use crate::source::Span;
use crate::types::{Scalar, Type, TypeKind};
use crate::value::Value;
use num_traits::ToPrimitive;
use std::sync::Arc;

/// The size of the window that a preview fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Characters in a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
}

impl Window {
    /// The number of lines of a window that is no screen but a long page.
    const PAGE_ROWS: usize = 10_000;

    /// Returns a window for a text that is read in a pager: of values up to this many lines nothing
    /// is omitted but what is too wide.
    pub fn page(columns: usize) -> Window {
        Window { columns, rows: Window::PAGE_ROWS }
    }

    /// Returns true if the window is a long page.
    pub fn is_page(self) -> bool {
        self.rows >= Window::PAGE_ROWS
    }
}

/// A preview of a value.
#[derive(Clone, Debug)]
pub enum Preview {
    /// A text.
    Text(String),
    /// The elements of an array in one sequence.
    List(Vec<Cell>, Gap),
    /// Rows and columns.
    Grid(Grid),
    /// The fields of a record or the components of a tuple, each with its name.
    Fields(Vec<(String, String)>),
}

/// An omitted range of parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// The number of shown parts before the range.
    pub at: usize,
    /// The number of omitted parts; 0 if nothing is omitted.
    pub left_out: usize,
}

/// Matrices of equal shape.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The names of the columns, if it is a table.
    pub headers: Option<Vec<String>>,
    /// The slices, each with its indices if there are several.
    pub slices: Vec<(Option<String>, Vec<Vec<Cell>>)>,
    /// The omitted slices.
    pub left_out: Gap,
    /// The omitted rows of each slice.
    pub rows: Gap,
    /// The omitted columns of each slice.
    pub columns: Gap,
}

/// The text of an element.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The full text.
    pub text: String,
    /// The number, if the text may be rounded.
    pub real: Option<f64>,
    /// The alignment in a column.
    pub alignment: Alignment,
}

/// The alignment of texts in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Left, as words.
    Left,
    /// Right, as integers.
    Right,
    /// Alignment at the decimal point.
    DecimalPoint,
}

/// The largest number of shown slices of an array with more than two axes.
const MAX_SLICES: usize = 8;
/// The lines of elements of a list that are looked at from each end, at one column for each.
const LIST_LINES: usize = 4;
/// The largest exponent of a compact power whose factors are separate axes.
const MAX_AXES: usize = 8;

impl Machine {
    /// Returns a preview of a value that a run has returned.
    pub fn preview(
        &mut self,
        program: &Program,
        value: &Value,
        ty: &Type,
        window: Window,
        host: &mut Host<'_>,
    ) -> std::result::Result<Preview, Box<super::RuntimeError>> {
        let mut run = Evaluator { machine: self, program, host, ticks: 0 };
        let overrides = Overrides::of(program, program.known.show, "show", ty);
        run.preview_value(value, ty, &overrides, window).map_err(AbruptCompletion::into_error)
    }
}

impl Evaluator<'_, '_> {
    /// Previews a value.
    fn preview_value(
        &mut self,
        value: &Value,
        ty: &Type,
        overrides: &Overrides,
        window: Window,
    ) -> Result<Preview> {
        let structure = match overrides.index_of(ty) {
            Ok(_) => return self.preview_text(value, ty, overrides, window),
            Err(structure) => structure,
        };
        let named = match structure.kind() {
            TypeKind::Array(element, index) => {
                let axes = axis_sizes(index);
                return match axes.iter().try_fold(1usize, |n, axis| n.checked_mul(*axis)) {
                    // A table without rows is shown with its columns.
                    Some(count)
                        if count >= 2 || count == 0 && table_columns(element, overrides).is_some() =>
                    {
                        self.preview_array(value, &structure, element, axes, overrides, window)
                    }
                    _ => self.preview_text(value, ty, overrides, window),
                };
            }
            TypeKind::Product(parts) => {
                parts.iter().enumerate().map(|(i, ty)| (i.to_string(), ty.clone())).collect()
            }
            TypeKind::Record(_) | TypeKind::Nominal(..) => named_fields(&structure).unwrap_or_default(),
            _ => Vec::new(),
        };
        let text = self.abbreviated_text(value, ty, overrides, window.columns * 4, window.columns)?;
        if named.len() < 2 || text.chars().count() <= window.columns && !text.contains('\n') {
            return self.preview_text(value, ty, overrides, window);
        }
        let layout = self.machine.layouts.of(&structure);
        let mut fields = Vec::new();
        for (i, (name, ty)) in named.into_iter().enumerate().take(window.rows.max(2)) {
            let (start, each) = layout.part(i).expect("a product has this component");
            let part = show::value_part(value, &layout, start, &each);
            fields.push((name, self.abbreviated_text(&part, &ty, overrides, window.columns, 8)?));
        }
        Ok(Preview::Fields(fields))
    }

    /// Previews a value as one text.
    fn preview_text(
        &mut self,
        value: &Value,
        ty: &Type,
        overrides: &Overrides,
        window: Window,
    ) -> Result<Preview> {
        let longest = window.columns * window.rows;
        Ok(Preview::Text(self.abbreviated_text(value, ty, overrides, longest, window.columns)?))
    }

    /// Returns an abbreviated text of a value: about `longest` bytes, `elements` elements of each
    /// array.
    fn abbreviated_text(
        &mut self,
        value: &Value,
        ty: &Type,
        overrides: &Overrides,
        longest: usize,
        elements: usize,
    ) -> Result<String> {
        let mut text = self.overridden_text_within(
            value,
            ty,
            overrides,
            Some(Abbreviation { max_bytes: longest, max_elements: elements }),
            Span::default(),
        )?;
        // Overridden texts and numbers are not bounded by the abbreviation.
        if let Some((end, _)) = text.char_indices().nth(longest.saturating_mul(2).max(80)) {
            let left_out = text[end..].chars().count();
            text.truncate(end);
            text.push_str(&format!("… ({left_out} characters left out)"));
        }
        Ok(text)
    }

    /// Previews an array as a list, a grid or a table.
    fn preview_array(
        &mut self,
        value: &Value,
        ty: &Type,
        element: &Type,
        mut axes: Vec<usize>,
        overrides: &Overrides,
        window: Window,
    ) -> Result<Preview> {
        // An array of arrays has the axes of both.
        let mut element = element.clone();
        while let Err(structure) = overrides.index_of(&element)
            && let TypeKind::Array(inner, index) = structure.kind()
        {
            let more = self::axis_sizes(index);
            let count = axes.iter().chain(&more).try_fold(1usize, |n, axis| n.checked_mul(*axis));
            if count.is_none_or(|count| count < 2) || more.contains(&0) {
                break;
            }
            axes.extend(more);
            element = inner.clone();
        }
        let cells = ArrayElements {
            whole: self.machine.layouts.of(ty),
            each: self.machine.layouts.of(&element),
            value,
            element: &element,
            overrides,
            longest: window.columns,
        };
        if let Some(fields) = table_columns(&element, overrides) {
            return self.preview_table(&cells, axes.iter().product(), fields, window);
        }
        let [outer @ .., row_count, column_count] = &axes[..] else {
            let lines = if window.is_page() { window.rows } else { LIST_LINES };
            let (picked, gap) = select_ends(axes.iter().product(), window.columns * lines);
            let items = picked.into_iter().map(|i| self.preview_cell(&cells, i)).collect::<Result<_>>()?;
            return Ok(Preview::List(items, gap));
        };
        let slice_count: usize = outer.iter().product();
        // Of several slices the first and the last are shown, each with its label.
        let room = if slice_count > 1 { (window.rows / 2).saturating_sub(2) } else { window.rows };
        let (rows, row_gap) = select_ends(*row_count, room.max(3));
        let (columns, column_gap) = select_ends(*column_count, window.columns / 2 + 1);
        let most = if window.is_page() { window.rows } else { MAX_SLICES };
        let fitting = (window.rows / (rows.len() + 2)).clamp(2, most);
        let (shown, left_out) = select_ends(slice_count, fitting);
        let mut slices = Vec::new();
        for slice in shown {
            let label = (!outer.is_empty()).then(|| slice_label(slice, outer));
            let mut grid = Vec::new();
            for row in &rows {
                let start = (slice * row_count + row) * column_count;
                grid.push(
                    columns
                        .iter()
                        .map(|c| self.preview_cell(&cells, start + c))
                        .collect::<Result<Vec<_>>>()?,
                );
            }
            slices.push((label, grid));
        }
        Ok(Preview::Grid(Grid { headers: None, slices, left_out, rows: row_gap, columns: column_gap }))
    }

    /// Previews an array of records as a table: a row for each record, a column for each field.
    fn preview_table(
        &mut self,
        cells: &ArrayElements<'_>,
        count: usize,
        fields: Vec<(String, Type)>,
        window: Window,
    ) -> Result<Preview> {
        let (rows, row_gap) = select_ends(count, window.rows.max(3));
        let (columns, column_gap) = select_ends(fields.len(), window.columns / 2 + 1);
        let mut grid = Vec::new();
        for row in rows {
            let record = cells.part(row);
            let mut line = Vec::new();
            for &column in &columns {
                let ty = &fields[column].1;
                let (start, each) = cells.each.part(column).expect("a record has this field");
                let part = show::value_part(&record, &cells.each, start, &each);
                let text = self.abbreviated_text(&part, ty, cells.overrides, cells.longest, 8)?;
                line.push(Cell::new(text, &part, ty, cells.overrides));
            }
            grid.push(line);
        }
        let heads = columns.iter().map(|&column| fields[column].0.clone()).collect();
        Ok(Preview::Grid(Grid {
            headers: Some(heads),
            slices: vec![(None, grid)],
            left_out: Gap { at: 1, left_out: 0 },
            rows: row_gap,
            columns: column_gap,
        }))
    }

    /// Previews an element of an array.
    fn preview_cell(&mut self, cells: &ArrayElements<'_>, i: usize) -> Result<Cell> {
        let part = cells.part(i);
        let text = self.abbreviated_text(&part, cells.element, cells.overrides, cells.longest, 8)?;
        Ok(Cell::new(text, &part, cells.element, cells.overrides))
    }
}

/// The elements of an array.
struct ArrayElements<'a> {
    whole: Arc<Layout>,
    each: Arc<Layout>,
    value: &'a Value,
    element: &'a Type,
    overrides: &'a Overrides,
    longest: usize,
}

impl ArrayElements<'_> {
    /// Returns element `i`.
    fn part(&self, i: usize) -> Value {
        if self.each.slots == 0 {
            return Value::UNIT;
        }
        show::value_part(self.value, &self.whole, i * self.each.slots, &self.each)
    }
}

impl Cell {
    /// Returns a cell with the alignment of its type.
    fn new(text: String, value: &Value, ty: &Type, overrides: &Overrides) -> Cell {
        let Err(structure) = overrides.index_of(ty) else {
            return Cell { text, real: None, alignment: Alignment::Right };
        };
        let (side, real) = match structure.kind() {
            TypeKind::Scalar(Scalar::Real) => (Alignment::DecimalPoint, Some(value.as_real())),
            TypeKind::Scalar(Scalar::Single) => (Alignment::DecimalPoint, Some(f64::from(value.as_single()))),
            TypeKind::Scalar(Scalar::String | Scalar::Char) => (Alignment::Left, None),
            TypeKind::Scalar(_) => (Alignment::Right, None),
            TypeKind::UnitSum(_) if !structure.is_bool() => (Alignment::Right, None),
            _ => (Alignment::Left, None),
        };
        Cell { text, real, alignment: side }
    }
}

/// Returns the sizes of the axes of an index type: its factors.
fn axis_sizes(index: &Type) -> Vec<usize> {
    if index.compact_fields().is_some() {
        return axis_sizes(&index.unfold());
    }
    let size = |ty: &Type| ty.size().ok().and_then(|n| n.to_usize());
    let factors: Option<Vec<usize>> = match index.kind() {
        TypeKind::CompactProduct(factors) => factors.iter().map(size).collect(),
        TypeKind::CompactPower(base, exponent) => match (size(base), size(exponent)) {
            (Some(base), Some(times)) if times <= MAX_AXES => Some(vec![base; times]),
            _ => None,
        },
        _ => None,
    };
    // A size that is no number here is more than any memory has: of such an array there is no value
    // but one without slots.
    factors.unwrap_or_else(|| vec![size(index).unwrap_or(0)])
}

/// Returns the fields of a record or struct.
fn named_fields(ty: &Type) -> Option<Vec<(String, Type)>> {
    Some(ty.fields()?.into_iter().map(|(name, ty)| (name.to_string(), ty)).collect())
}

/// Returns the columns of a table: the fields of its records.
fn table_columns(element: &Type, overrides: &Overrides) -> Option<Vec<(String, Type)>> {
    overrides
        .index_of(element)
        .err()
        .and_then(|structure| named_fields(&structure))
        .filter(|fields| !fields.is_empty())
}

/// Selects at most `most` of the numbers below `count`: the first ones and the last ones.
fn select_ends(count: usize, most: usize) -> (Vec<usize>, Gap) {
    if count <= most {
        return ((0..count).collect(), Gap { at: count, left_out: 0 });
    }
    let tail = (most / 3).max(usize::from(most > 1));
    let head = most - tail;
    let picked = (0..head).chain(count - tail..count).collect();
    (picked, Gap { at: head, left_out: count - head - tail })
}

/// Returns the indices of a slice, with the axes of its rows and columns left open.
fn slice_label(mut slice: usize, outer: &[usize]) -> String {
    let mut digits: Vec<String> = Vec::new();
    for size in outer.iter().rev() {
        digits.push((slice % size).to_string());
        slice /= size;
    }
    digits.reverse();
    format!("({}, _, _)", digits.join(", "))
}
