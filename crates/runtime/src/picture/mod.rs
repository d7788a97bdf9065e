//! Pictures: charts and images, as SVG, as PNG, and as text for a terminal.
//!
//! Takes the description that `picture` of the standard library makes, a text: records that end
//! with U+001E, their fields divided by U+001F, numbers by blanks. Gives bytes or text. All finite
//! values are drawn; the number of other values is stated. Independent of programs; opens no file.

mod bounds;
mod chart;
mod font;
mod pixels;
mod raster;
mod scale;
mod shape;
mod sheet;
mod svg;
mod terminal;

pub use self::bounds::{Bounds, DrawError};
pub use self::svg::svg;
pub use self::terminal::{Colors, Screen, text};

use scale::Scale;
use std::str::FromStr;

/// The end of a record.
pub const RECORD: char = '\u{1e}';
/// The separator of fields.
pub const FIELD: char = '\u{1f}';

/// A picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// The title; empty for none.
    pub title: String,
    /// The names of the axes.
    pub axes: [String; 2],
    /// True for an axis with a logarithmic scale; the marks then hold decimal logarithms.
    pub logarithmic: [bool; 2],
    /// The number of values that are not drawn because they have no logarithm.
    pub without_logarithm: usize,
    /// The layers, the first one at the back.
    pub layers: Vec<Layer>,
    /// The cells of a grid of pictures, which has no layers of its own.
    pub cells: Option<Cells>,
}

/// Pictures in rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// The numbers of rows and columns.
    pub grid: Grid,
    /// The pictures, row by row; none of them is a grid.
    pub pictures: Vec<Picture>,
}

/// The largest number of pictures in a grid.
const MAX_CELLS: usize = 36;

/// A layer of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The name in the legend; empty for none.
    pub label: String,
    /// The marks of the layer.
    pub mark: Mark,
}

/// The marks of a layer.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A line through points; broken where one is not finite.
    Line(Vec<[f64; 2]>),
    /// Points.
    Points(Vec<[f64; 2]>),
    /// Points with bars, each as horizontal position, vertical position, and the ends of its bar.
    ErrorBars(Vec<[f64; 4]>),
    /// A bar for each value, with names or without.
    Bars(Vec<String>, Vec<f64>),
    /// Bins as lower bound, upper bound and count, and the number of values in no bin.
    Histogram(Vec<[f64; 3]>, usize),
    /// Values in rows.
    Heatmap(Grid, Vec<f64>),
    /// Red, green and blue of pixels in rows.
    Image(Grid, Vec<u8>),
}

/// The numbers of rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
}

/// Parses the description of a picture.
pub fn parse(text: &str, bounds: &Bounds<'_>) -> Result<Picture, DrawError> {
    let mut unsupported = None;
    let look = |round: usize| bounds.poll(round).ok();
    let found = parse_description(text, &look, &mut unsupported);
    let failed = || unsupported.map(|why| DrawError::Unsupported(why.to_string()));
    found.ok_or_else(|| bounds.poll(0).err().or_else(failed).unwrap_or(DrawError::InvalidDescription))
}

/// Parses the description of a picture; `look` returns `None` to stop. `unsupported` receives the
/// reason why a picture cannot be drawn.
fn parse_description(
    text: &str,
    look: &impl Fn(usize) -> Option<()>,
    unsupported: &mut Option<&'static str>,
) -> Option<Picture> {
    let reals = |text: &str| parse_numbers::<f64>(text, look);
    let points = |xs: &str, ys: &str| {
        let (xs, ys) = (reals(xs)?, reals(ys)?);
        (xs.len() == ys.len()).then(|| xs.into_iter().zip(ys).map(|(x, y)| [x, y]).collect::<Vec<[f64; 2]>>())
    };
    let mut records = text.split_terminator(RECORD).map(|record| record.split(FIELD).collect::<Vec<_>>());
    let [title, x, y] = records.next()?[..] else { return None };
    let mut picture = Picture::named(title, x, y);
    // The cell that is being read, and what holds for all of a grid.
    let mut cell: Option<Picture> = None;
    let mut labels: Vec<String> = Vec::new();
    for record in records {
        let current = cell.as_mut().unwrap_or(&mut picture);
        let mark = match record[..] {
            ["label", label] => {
                labels.push(one_line(label));
                continue;
            }
            ["end"] => {
                labels.pop();
                continue;
            }
            ["log", axis] => {
                current.logarithmic[["across", "upward"].iter().position(|known| *known == axis)?] = true;
                continue;
            }
            ["grid", rows, columns] => {
                let grid = parse_grid(rows, columns)?;
                if cell.is_some() || picture.cells.is_some() {
                    *unsupported = Some("a picture within a grid is no grid itself");
                    return None;
                }
                if !(1..=MAX_CELLS).contains(&grid.count()?) {
                    *unsupported = Some("a grid holds 1 to 36 pictures");
                    return None;
                }
                picture.cells = Some(Cells { grid, pictures: Vec::new() });
                continue;
            }
            ["cell", title, x, y] => {
                let logarithmic = picture.logarithmic;
                cell = Some(Picture { logarithmic, ..Picture::named(title, x, y) });
                continue;
            }
            ["close"] => {
                let mut done = cell.take()?;
                done.take_logarithms();
                picture.cells.as_mut()?.pictures.push(done);
                continue;
            }
            ["errors", xs, ys, errors] => {
                let (points, errors) = (points(xs, ys)?, reals(errors)?);
                let bar = |([x, y], error): ([f64; 2], f64)| {
                    // The ends of bars of finite numbers are finite.
                    let end = |end: f64| if error.is_finite() { end.clamp(-f64::MAX, f64::MAX) } else { end };
                    [x, y, end(y - error.abs()), end(y + error.abs())]
                };
                (points.len() == errors.len())
                    .then(|| Mark::ErrorBars(points.into_iter().zip(errors).map(bar).collect()))?
            }
            ["line", xs, ys] => Mark::Line(points(xs, ys)?),
            ["points", xs, ys] => Mark::Points(points(xs, ys)?),
            ["bars", values] => Mark::Bars(Vec::new(), reals(values)?),
            ["bars", values, ref names @ ..] => {
                Mark::Bars(names.iter().map(|name| one_line(name)).collect(), reals(values)?)
            }
            ["histogram", bins, values] => histogram(bins.parse().ok()?, &reals(values)?),
            ["heatmap", rows, columns, values] => {
                let (grid, values) = (parse_grid(rows, columns)?, reals(values)?);
                (values.len() == grid.count()?).then_some(Mark::Heatmap(grid, values))?
            }
            ["image", rows, columns, pixels] => {
                let grid = parse_grid(rows, columns)?;
                let pixels: Vec<u8> = parse_numbers(pixels, look)?;
                (Some(pixels.len()) == grid.count()?.checked_mul(3)).then_some(Mark::Image(grid, pixels))?
            }
            _ => return None,
        };
        current.layers.push(Layer { label: labels.last().cloned().unwrap_or_default(), mark });
    }
    match &picture.cells {
        None => picture.take_logarithms(),
        Some(_) if !picture.layers.is_empty() => {
            *unsupported =
                Some("a grid of pictures has no axes of its own: `together` comes before `picture_grid`");
            return None;
        }
        Some(cells) if Some(cells.pictures.len()) != cells.grid.count() => return None,
        Some(_) => {}
    }
    Some(picture)
}

/// Returns a picture as the bytes of a file with this name.
pub fn encode_file(picture: &Picture, path: &str, bounds: &Bounds<'_>) -> Result<Vec<u8>, DrawError> {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_lowercase();
    match ending.as_str() {
        "svg" => Ok(svg(picture, bounds)?.into_bytes()),
        // A single image keeps its pixels; with a title or other layers it becomes a chart.
        "png" => match picture.sole_image() {
            Some((grid, pixels)) => pixels::encode_png(grid, pixels, bounds),
            None => raster::png(picture, bounds),
        },
        _ => Err(DrawError::Unsupported(
            "the ending of its name says what it becomes: `.svg` or `.png`".to_string(),
        )),
    }
}

impl Picture {
    /// Returns a picture without layers.
    fn named(title: &str, across: &str, upward: &str) -> Picture {
        let axes = [one_line(across), one_line(upward)];
        Picture { title: one_line(title), axes, ..Picture::default() }
    }
}

impl Grid {
    /// Returns the number of cells; `None` if it overflows.
    fn count(self) -> Option<usize> {
        self.rows.checked_mul(self.columns)
    }
}

/// Returns a text in one line, without control characters.
fn one_line(text: &str) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(shown).collect::<String>().trim().to_string()
}

/// Parses numbers between blanks.
fn parse_numbers<N: FromStr>(text: &str, look: impl Fn(usize) -> Option<()>) -> Option<Vec<N>> {
    let words = text.split_ascii_whitespace().enumerate();
    words.map(|(i, number)| look(i).and_then(|()| number.parse().ok())).collect()
}

/// Parses the numbers of rows and columns.
fn parse_grid(rows: &str, columns: &str) -> Option<Grid> {
    Some(Grid { rows: rows.parse().ok()?, columns: columns.parse().ok()? })
}

/// The largest number of bins of a histogram.
const MAX_BINS: usize = 1_000;

/// Counts values in bins: `bins` of them, or a number by Sturges' rule (1926) if `bins` is 0.
fn histogram(bins: usize, values: &[f64]) -> Mark {
    let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let left = values.len() - finite.len();
    if finite.is_empty() {
        return Mark::Histogram(Vec::new(), left);
    }
    let bins = match bins {
        0 => (finite.len() as f64).log2().ceil() as usize + 1,
        n => n.min(MAX_BINS),
    };
    let scale = Scale::of(finite.iter().copied());
    let mut counts = vec![0usize; bins];
    for value in &finite {
        let at = (scale.position(*value) * bins as f64) as usize;
        counts[at.min(bins - 1)] += 1;
    }
    let bound = |i: usize| scale.value(i as f64 / bins as f64);
    let bin = |(i, count): (usize, &usize)| [bound(i), bound(i + 1), *count as f64];
    Mark::Histogram(counts.iter().enumerate().map(bin).collect(), left)
}

impl Mark {
    /// Returns its rows and columns, if it has some. The vertical axis then counts rows downward.
    fn grid(&self) -> Option<Grid> {
        match self {
            Mark::Heatmap(grid, _) | Mark::Image(grid, _) => Some(*grid),
            _ => None,
        }
    }

    /// Returns the number of values that are not finite.
    fn non_finite_count(&self) -> usize {
        match self {
            Mark::Line(points) | Mark::Points(points) => {
                points.iter().filter(|point| !point.iter().all(|v| v.is_finite())).count()
            }
            Mark::ErrorBars(bars) => bars.iter().filter(|bar| !bar.iter().all(|v| v.is_finite())).count(),
            Mark::Bars(_, values) | Mark::Heatmap(_, values) => {
                values.iter().filter(|v| !v.is_finite()).count()
            }
            Mark::Histogram(_, left) => *left,
            Mark::Image(..) => 0,
        }
    }

    /// Returns true if nothing is drawn.
    pub fn is_empty(&self) -> bool {
        match self {
            Mark::Line(points) | Mark::Points(points) => points.len() == self.non_finite_count(),
            Mark::ErrorBars(bars) => bars.len() == self.non_finite_count(),
            Mark::Bars(_, values) | Mark::Heatmap(_, values) => values.len() == self.non_finite_count(),
            Mark::Histogram(bins, _) => bins.is_empty(),
            Mark::Image(_, pixels) => pixels.is_empty(),
        }
    }

    /// Replaces values by their decimal logarithms along these axes; those that have none become
    /// NaN. Returns their number. Cells, and the places of bars, have numbers instead of values.
    fn take_logarithms(&mut self, [across, upward]: [bool; 2]) -> usize {
        let mut without = 0;
        match self {
            Mark::Line(points) | Mark::Points(points) => {
                for point in points {
                    let drawn = point.iter().all(|v| v.is_finite());
                    for (value, taken) in point.iter_mut().zip([across, upward]) {
                        *value = if taken { logarithm(*value) } else { *value };
                    }
                    without += usize::from(drawn && point.iter().any(|v| v.is_nan()));
                }
            }
            Mark::ErrorBars(bars) => {
                for bar in bars {
                    let drawn = bar.iter().all(|v| v.is_finite());
                    let [x, y, low, high] = bar;
                    if across {
                        *x = logarithm(*x);
                    }
                    if upward {
                        [*y, *high] = [*y, *high].map(logarithm);
                        // A bar that reaches below 0 ends at the axis.
                        *low = if *low > 0.0 { low.log10() } else { AXIS_END };
                    }
                    without += usize::from(drawn && bar.iter().any(|v| v.is_nan()));
                }
            }
            Mark::Bars(_, values) if upward => {
                for value in values {
                    let drawn = value.is_finite();
                    *value = logarithm(*value);
                    without += usize::from(drawn && value.is_nan());
                }
            }
            Mark::Histogram(bins, _) => {
                if across {
                    let inside = |bin: &[f64; 3]| bin[0] > 0.0;
                    without +=
                        bins.iter().filter(|bin| !inside(bin)).map(|bin| bin[2] as usize).sum::<usize>();
                    bins.retain(inside);
                    bins.iter_mut().for_each(|bin| [bin[0], bin[1]] = [bin[0], bin[1]].map(f64::log10));
                }
                if upward {
                    // An empty bin has no bar on either scale.
                    bins.retain(|bin| bin[2] > 0.0);
                    bins.iter_mut().for_each(|bin| bin[2] = bin[2].log10());
                }
            }
            Mark::Bars(..) | Mark::Heatmap(..) | Mark::Image(..) => {}
        }
        without
    }

    /// Returns the values that both axes must include; bars stand on an axis that is logarithmic.
    fn extent(&self, logarithmic: bool) -> (Vec<f64>, Vec<f64>) {
        // Below all bars, so that the least one has a height.
        let ground = |values: &[f64]| {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            match logarithmic {
                true => least.is_finite().then(|| (least - 0.1).floor()),
                false => Some(0.0),
            }
        };
        match self {
            Mark::Line(points) | Mark::Points(points) => {
                let finite = points.iter().filter(|point| point.iter().all(|v| v.is_finite()));
                finite.map(|[x, y]| (*x, *y)).unzip()
            }
            Mark::ErrorBars(bars) => {
                let finite = bars.iter().filter(|bar| bar.iter().all(|v| v.is_finite()));
                let ends = finite.clone().flat_map(|bar| [bar[1], bar[2], bar[3]]);
                (finite.map(|bar| bar[0]).collect(), ends.filter(|end| *end != AXIS_END).collect())
            }
            Mark::Bars(_, values) => {
                let mut y: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
                y.extend(ground(&y));
                (vec![-0.5, values.len() as f64 - 0.5], y)
            }
            Mark::Histogram(bins, _) => {
                let x = bins.iter().flat_map(|[low, high, _]| [*low, *high]).collect();
                let mut y: Vec<f64> = bins.iter().map(|bin| bin[2]).collect();
                y.extend(ground(&y));
                (x, y)
            }
            Mark::Heatmap(grid, _) | Mark::Image(grid, _) => {
                // The center of a cell is at its indices, so that lines and points can be drawn
                // over it.
                let end = |n: usize| vec![-0.5, n.max(1) as f64 - 0.5];
                (end(grid.columns), end(grid.rows))
            }
        }
    }
}

/// The lower end of a bar that reaches as far as the vertical axis does.
const AXIS_END: f64 = -f64::MAX;

/// Returns the decimal logarithm of a number; NaN if it is not positive.
fn logarithm(value: f64) -> f64 {
    if value > 0.0 { value.log10() } else { f64::NAN }
}

impl Picture {
    /// Replaces values along logarithmic axes by their logarithms. Beside cells both axes stay
    /// linear, and an axis with names of bars does.
    fn take_logarithms(&mut self) {
        let cells = self.layers.iter().any(|layer| layer.mark.grid().is_some());
        let places = self.layers.iter().any(|layer| matches!(layer.mark, Mark::Bars(..)));
        let [across, upward] = self.logarithmic;
        self.logarithmic = [across && !cells && !places, upward && !cells];
        for layer in &mut self.layers {
            self.without_logarithm += layer.mark.take_logarithms(self.logarithmic);
        }
    }

    /// Returns the value that bars stand on.
    fn ground(&self) -> f64 {
        if self.logarithmic[1] { AXIS_END } else { 0.0 }
    }

    /// Returns the remark below the picture: the number of values that are not drawn, and the
    /// reason.
    fn remark(&self) -> String {
        let left: usize = self.layers.iter().map(|layer| layer.mark.non_finite_count()).sum();
        let empty = self.layers.iter().all(|layer| layer.mark.is_empty());
        let (left, without) = (left - self.without_logarithm.min(left), self.without_logarithm);
        if without > 0 {
            let values = if without == 1 { "1 value is" } else { &*format!("{without} values are") };
            let finite = match left {
                0 => String::new(),
                n => format!(", {n} not finite"),
            };
            let nothing = if empty { "nothing to draw: " } else { "" };
            return format!("{nothing}{values} not positive and not drawn on a logarithmic axis{finite}");
        }
        match (empty, left) {
            (true, 0) => "nothing to draw: there are no values".to_string(),
            (true, _) => "nothing to draw: no value is finite".to_string(),
            (false, 0) => String::new(),
            (false, 1) => "1 value is not finite and not drawn".to_string(),
            (false, n) => format!("{n} values are not finite and not drawn"),
        }
    }

    /// Returns true if there is a title or a name of an axis.
    fn has_text(&self) -> bool {
        !self.title.is_empty() || self.axes.iter().any(|axis| !axis.is_empty())
    }

    /// Returns the heat map whose color bar is drawn: its name and values.
    fn heatmap(&self) -> Option<(&str, &[f64])> {
        self.layers.iter().find_map(|layer| match &layer.mark {
            Mark::Heatmap(_, values) if !layer.mark.is_empty() => Some((&layer.label[..], &values[..])),
            _ => None,
        })
    }

    /// Returns the scales of both axes, with margins.
    fn scales(&self) -> [Scale; 2] {
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for layer in &self.layers {
            let (x, y) = layer.mark.extent(self.logarithmic[1]);
            xs.extend(x);
            ys.extend(y);
        }
        let grid = self.layers.iter().any(|layer| layer.mark.grid().is_some());
        let stands = |layer: &Layer| {
            matches!(layer.mark, Mark::Bars(..) | Mark::Histogram(..)) && !self.logarithmic[1]
        };
        let (x, y) = (Scale::of(xs.into_iter()), Scale::of(ys.into_iter()));
        if grid { [x, y] } else { [x.widened(0.02, false), y.widened(0.05, self.layers.iter().any(stands))] }
    }

    /// Returns the image, if the picture has no other layer and no texts.
    fn sole_image(&self) -> Option<(Grid, &[u8])> {
        match &self.layers[..] {
            [Layer { mark: Mark::Image(grid, pixels), label }] if !self.has_text() && label.is_empty() => {
                Some((*grid, pixels))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// A flag that nothing sets.
    static STOP: AtomicBool = AtomicBool::new(false);
    const BOUNDS: Bounds = Bounds { max_bytes: 1 << 20, interrupt: &STOP };

    fn picture(layers: &str) -> Picture {
        let text = format!("t|x|y;{layers}").replace('|', "\u{1f}").replace(';', "\u{1e}");
        parse(&text, &BOUNDS).expect("a picture")
    }

    #[test]
    fn what_is_described() {
        let both = picture("label|a;line|0 1|2 NaN;end;bars|1 2|u|v;");
        assert_eq!(both.layers[0].label, "a");
        assert_eq!(both.layers[1].mark, Mark::Bars(vec!["u".into(), "v".into()], vec![1.0, 2.0]));
        assert_eq!(both.remark(), "1 value is not finite and not drawn");
        for wrong in [
            "",
            "a",
            "t\u{1f}x\u{1f}y\u{1e}line\u{1f}1\u{1f}\u{1e}",
            "t\u{1f}x\u{1f}y\u{1e}heatmap\u{1f}9\u{1f}9\u{1f}1\u{1e}",
        ] {
            assert_eq!(parse(wrong, &BOUNDS), Err(DrawError::InvalidDescription), "{wrong}");
        }
    }

    #[test]
    fn logarithms_are_taken_along_an_axis() {
        let line = picture("log|upward;line|0 1 2|1 100 -5;");
        assert!(matches!(&line.layers[0].mark, Mark::Line(points) if points[1] == [1.0, 2.0]));
        assert_eq!(line.remark(), "1 value is not positive and not drawn on a logarithmic axis");
        let both = picture("log|upward;line|0 1 2|1 NaN -5;points|1 1|0 0;");
        assert_eq!(
            both.remark(),
            "3 values are not positive and not drawn on a logarithmic axis, 1 not finite"
        );
        // The bar of a point that reaches below 0 ends at the axis, and the point is drawn.
        let bars = picture("log|upward;errors|0 1|1 10|2 9;");
        assert!(bars.remark().is_empty(), "{}", bars.remark());
        let [_, y] = bars.scales();
        assert!(y.value(0.0) > -0.2 && y.value(1.0) < 1.4, "{y:?}");
        // Cells and names of bars have no logarithms.
        assert_eq!(picture("log|across;bars|1 2;").logarithmic, [false, false]);
        assert_eq!(picture("log|across;log|upward;heatmap|1|2|1 -2;").remark(), "");
        let broken = "t\u{1f}x\u{1f}y\u{1e}log\u{1f}sideways\u{1e}";
        assert_eq!(parse(broken, &BOUNDS), Err(DrawError::InvalidDescription));
    }

    #[test]
    fn bins() {
        let Mark::Histogram(bins, left) = histogram(2, &[0.0, 1.0, 1.0, 4.0, f64::NAN]) else {
            panic!("bins")
        };
        assert_eq!((bins, left), (vec![[0.0, 2.0, 3.0], [2.0, 4.0, 1.0]], 1));
    }

    #[test]
    fn what_is_stopped_or_too_long_is_not_drawn() {
        let stopped = Bounds { max_bytes: 1 << 20, interrupt: &AtomicBool::new(true) };
        for layer in
            ["points|1 2|3 4;", "line|1 2|3 4;", "bars|1 2|u|v;", "heatmap|1|2|1 2;", "image|1|1|9 9 9;"]
        {
            let picture = picture(layer);
            assert_eq!(svg(&picture, &stopped), Err(DrawError::Interrupted), "{layer}");
            assert_eq!(encode_file(&picture, "a.png", &stopped), Err(DrawError::Interrupted), "{layer}");
            let text = format!("t|x|y;{layer}").replace('|', "\u{1f}").replace(';', "\u{1e}");
            assert_eq!(parse(&text, &stopped), Err(DrawError::Interrupted), "{layer}");
            // One byte less than it takes is too little.
            let longest = svg(&picture, &BOUNDS).expect("a text").len();
            let exact = Bounds { max_bytes: longest, ..BOUNDS };
            let short = Bounds { max_bytes: longest - 1, ..BOUNDS };
            assert_eq!(svg(&picture, &exact).map(|svg| svg.len()), Ok(longest), "{layer}");
            assert_eq!(svg(&picture, &short), Err(DrawError::TooLong), "{layer}");
        }
        let points = picture("points|1 2|3 4;");
        assert_eq!(text(&points, Screen::default(), &stopped), Err(DrawError::Interrupted));
        assert_eq!(
            text(&points, Screen::default(), &Bounds { max_bytes: 9, ..BOUNDS }),
            Err(DrawError::TooLong)
        );
    }

    #[test]
    fn images() {
        let image = Picture { layers: picture("image|1|2|255 0 0 0 0 255;").layers, ..Picture::default() };
        let bytes = encode_file(&image, "a.PNG", &BOUNDS).expect("an image");
        assert!(bytes.starts_with(b"\x89PNG\r\n"));
        let decoder = ::png::Decoder::new(std::io::Cursor::new(bytes));
        let mut reader = decoder.read_info().expect("a header");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("pixels");
        assert_eq!((info.width, info.height, &pixels[..6]), (2, 1, &[255, 0, 0, 0, 0, 255][..]));
        for name in ["a.jpg", "a"] {
            assert!(matches!(encode_file(&image, name, &BOUNDS), Err(DrawError::Unsupported(_))), "{name}");
        }
        let none = Picture { layers: picture("image|0|0|;").layers, ..Picture::default() };
        assert!(encode_file(&none, "a.png", &BOUNDS).is_err());
    }
}
