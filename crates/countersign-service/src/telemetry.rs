//! The log: one line an event on standard error, as text or JSON. Never bodies, outputs, ids or addresses of
//! callers: no event of ours holds them, and the text of a panic, which might, is left out.

use crate::app::system_clock;
use countersign_core::canonical::write_string;
use std::fmt::{Debug, Write as _};
use std::io::Write as _;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Writes events to standard error from now on, in the whole process. Has no effect the second time.
pub(crate) fn start(least: Option<Level>, json: bool) {
    if tracing::subscriber::set_global_default(Log { least, json }).is_err() {
        return;
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!("Panicked at {place}");
    }));
}

/// Writes one line to standard error as it is.
pub(crate) fn say(line: &str) {
    // Nobody is left to tell if standard error is closed.
    let _ = writeln!(std::io::stderr(), "{line}");
}

struct Log {
    least: Option<Level>,
    json: bool,
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Only our own events: those of libraries may show what we never do.
        self.least.is_some_and(|least| *metadata.level() <= least)
            && metadata.target().starts_with("countersign")
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::new(self.json);
        let time = (system_clock())().to_string();
        line.begin(&time, event.metadata());
        event.record(&mut line);
        say(&line.end());
    }

    // There are no spans.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// A line in the making: `TIME LEVEL message name=value`, or the same as a JSON object.
struct Line {
    json: bool,
    text: String,
    /// Text lines have the message in front.
    message: String,
}

impl Line {
    fn new(json: bool) -> Self {
        Line {
            json,
            text: String::new(),
            message: String::new(),
        }
    }

    fn begin(&mut self, time: &str, metadata: &Metadata<'_>) {
        if self.json {
            self.text.push('{');
            self.member("time", time);
            self.member("level", metadata.level().as_str());
        } else {
            let _ = write!(self.message, "{time} {:5} ", metadata.level());
        }
    }

    fn member(&mut self, name: &str, value: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        let mut member = Vec::new();
        write_string(name, &mut member);
        member.push(b':');
        write_string(value, &mut member);
        self.text.push_str(&String::from_utf8_lossy(&member));
    }

    fn field(&mut self, name: &str, value: &str) {
        match (self.json, name) {
            (true, _) => self.member(name, value),
            // A line stays a line, whatever a cause says.
            (false, "message") => self.message.push_str(&value.replace(['\n', '\r'], " ")),
            (false, _) => {
                let _ = write!(self.text, " {name}={}", value.replace(['\n', '\r'], " "));
            }
        }
    }

    fn end(self) -> String {
        if self.json {
            self.text + "}"
        } else {
            self.message + &self.text
        }
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.field(field.name(), value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.field(field.name(), &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: bool) -> String {
        let mut line = Line::new(json);
        if json {
            line.text.push('{');
        }
        line.field("message", "it\nends");
        line.field("code", "a\"b");
        line.end()
    }

    #[test]
    fn an_event_is_one_line() {
        assert_eq!(line(false), r#"it ends code=a"b"#);
        assert_eq!(line(true), r#"{"message":"it\nends","code":"a\"b"}"#);
    }
}
