//! The parts of a chart.

/// A text in HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Not allowed in a page at all.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The classes of a series: eight colours, then the same with dashes.
pub fn series_class(series: usize) -> String {
    format!("s{} d{}", series % 8, series / 8 % 3)
}

pub fn c(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // There is no -0.
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

/// A scale on which equal factors are equal distances.
#[derive(Clone, Copy, Debug)]
pub struct LogScale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl LogScale {
    /// From `low` to `high`, both above 0, on the coordinates from `from` to `to`.
    pub fn new(low: f64, high: f64, from: f64, to: f64) -> LogScale {
        LogScale { low: low.ln(), high: high.max(low * 1.001).ln(), from, to }
    }

    /// Where a value lies; what is outside lies at an end.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value.max(1e-300).ln() - self.low) / (self.high - self.low);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// The powers of ten within.
    pub fn ticks(&self) -> Vec<f64> {
        let exponent = |ln: f64, slack: f64| (ln / std::f64::consts::LN_10 + slack) as i32;
        let low = (self.low / std::f64::consts::LN_10 - 1e-9).ceil() as i32;
        let high = if self.high < 0.0 {
            (self.high / std::f64::consts::LN_10 + 1e-9).floor() as i32
        } else {
            exponent(self.high, 1e-9)
        };
        (low..=high).map(|e| 10f64.powi(e)).collect()
    }
}

/// A line that only goes sideways and up or down.
pub struct Stairs {
    pub name: String,
    /// Where it begins, up to where it goes, and its heights from points on.
    pub start: f64,
    /// The points, in order.
    pub points: Vec<(f64, f64)>,
    pub end: f64,
}

/// A chart of stairs over a logarithmic axis.
pub struct StairsChart<'a> {
    /// The id of the chart, unique in the page.
    pub id: &'a str,
    /// What it shows, for who cannot see it.
    pub title: String,
    /// The name of the axis.
    pub across: &'a str,
    /// The name of the heights.
    pub up: &'a str,
    /// The smallest and the largest value on the axis.
    pub range: (f64, f64),
    pub top: f64,
    /// The lines, by series.
    pub lines: Vec<(usize, Stairs)>,
}

impl StairsChart<'_> {
    pub fn draw(&self) -> String {
        let (width, height) = (640.0_f64, 260.0_f64.max(40.0 + 18.0 * self.lines.len() as f64));
        let (left, right, top, bottom) = (52.0, 390.0, 26.0, height - 42.0);
        let x = LogScale::new(self.range.0, self.range.1, left, right);
        let y = |value: f64| bottom - (value / self.top.max(1e-9)).clamp(0.0, 1.0) * (bottom - top);
        let mut out = open(self.id, &self.title, width, height);
        for tick in x.ticks() {
            let at = c(x.at(tick));
            out.push_str(&format!(
                "<line class=\"axis\" x1=\"{at}\" y1=\"{}\" x2=\"{at}\" y2=\"{}\"/><text class=\"faint\" x=\"{at}\" \
                 y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                c(top),
                c(bottom),
                c(bottom + 16.0),
                short(tick)
            ));
        }
        for share in [0.0, 0.5, 1.0] {
            let (value, at) = (share * self.top, c(y(share * self.top)));
            out.push_str(&format!(
                "<line class=\"axis\" x1=\"{}\" y1=\"{at}\" x2=\"{}\" y2=\"{at}\"/><text class=\"faint\" x=\"{}\" \
                 y=\"{at}\" dy=\"4\" text-anchor=\"end\">{}</text>\n",
                c(left),
                c(right),
                c(left - 6.0),
                short(value)
            ));
        }
        out.push_str(&format!(
            "<text class=\"faint\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n<text class=\"faint\" x=\"{}\" \
             y=\"{}\">{}</text>\n",
            c(right),
            c(height - 8.0),
            escape(self.across),
            c(4.0),
            c(12.0),
            escape(self.up)
        ));
        for (place, (series, line)) in self.lines.iter().enumerate() {
            let class = series_class(*series);
            let mut path = format!("M{} {}", c(x.at(self.range.0)), c(y(line.start)));
            for (at, height) in &line.points {
                path.push_str(&format!("H{}V{}", c(x.at(*at)), c(y(*height))));
            }
            path.push_str(&format!("H{}", c(x.at(line.end))));
            let (key, name) = (top + 8.0 + 18.0 * place as f64, escape(&line.name));
            out.push_str(&format!(
                "<path class=\"line {class}\" d=\"{path}\"><title>{name}</title></path>\n<line class=\"key {class}\" \
                 stroke-width=\"2\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/><text x=\"{}\" y=\"{}\" dy=\"4\">{name}</text>\n",
                c(right + 12.0),
                c(key),
                c(right + 34.0),
                c(key),
                c(right + 40.0),
                c(key)
            ));
        }
        out.push_str("</svg>\n");
        out
    }
}

/// The beginning of a chart. Its title is what a screen reader says.
pub fn open(id: &str, title: &str, width: f64, height: f64) -> String {
    format!(
        "<svg viewBox=\"0 0 {} {}\" width=\"{}\" role=\"img\" aria-labelledby=\"{id}-title\">\n<title \
         id=\"{id}-title\">{}</title>\n",
        c(width),
        c(height),
        c(width),
        escape(title)
    )
}

/// A number in few characters.
pub fn short(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e3 => format!("{}k", v / 1e3),
        v if v == 0.0 || v >= 0.01 => format!("{v}"),
        v => format!("{v:.0e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_break_out() {
        assert_eq!(escape("<a href=\"x\">&\u{1}"), "&lt;a href=&quot;x&quot;&gt;&amp;\u{fffd}");
    }

    #[test]
    fn equal_factors_are_equal_distances() {
        let scale = LogScale::new(0.001, 1.0, 0.0, 300.0);
        assert_eq!([0.0, 0.001, 0.01, 0.1, 1.0, 7.0].map(|v| scale.at(v).round()), [0., 0., 100., 200., 300., 300.]);
        assert_eq!(scale.ticks().len(), 4);
        assert_eq!(LogScale::new(1.0, 1500.0, 0.0, 1.0).ticks(), [1.0, 10.0, 100.0, 1000.0]);
        assert!(LogScale::new(1.0, 1.0, 0.0, 1.0).at(1.0).is_finite());
    }

    #[test]
    fn short_numbers() {
        assert_eq!([0.0, 0.5, 0.0001, 7.0, 1000.0, 2e6].map(short), ["0", "0.5", "1e-4", "7", "1k", "2M"]);
        assert_eq!(c(-0.01), "0");
    }
}
