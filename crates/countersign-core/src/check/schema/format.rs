//! The formats of strings that `format` asserts (verification.md, section 8), each by its RFC.
//!
//! A format means the same in every draft. All run in time linear in the text.

mod address;
mod host;
mod idna;
mod moment;
mod pointer;
mod punycode;
mod uri;

use super::pattern::Pattern;

macro_rules! formats {
    ($($variant:ident $name:literal $matches:expr,)*) => {
        /// A format of strings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Format { $($variant,)* }

        impl Format {
            /// Every format.
            pub const ALL: &'static [Format] = &[$(Format::$variant,)*];

            /// The format with a name as schemas write it. Any other name is an annotation.
            pub fn named(name: &str) -> Option<Format> {
                match name {
                    $($name => Some(Format::$variant),)*
                    _ => None,
                }
            }

            /// The name as schemas write it.
            pub fn name(self) -> &'static str {
                match self { $(Format::$variant => $name,)* }
            }

            /// Whether a text has the format.
            pub fn matches(self, text: &str) -> bool {
                match self { $(Format::$variant => $matches(text),)* }
            }
        }
    };
}

formats! {
    Date "date" moment::is_date,
    Time "time" moment::is_time,
    DateTime "date-time" moment::is_date_time,
    Duration "duration" moment::is_duration,
    Email "email" address::is_email,
    IdnEmail "idn-email" address::is_idn_email,
    Hostname "hostname" host::is_hostname,
    IdnHostname "idn-hostname" host::is_idn_hostname,
    Ipv4 "ipv4" address::is_ipv4,
    Ipv6 "ipv6" address::is_ipv6,
    Uri "uri" uri::is_uri,
    UriReference "uri-reference" uri::is_uri_reference,
    Iri "iri" uri::is_iri,
    IriReference "iri-reference" uri::is_iri_reference,
    UriTemplate "uri-template" uri::is_uri_template,
    Uuid "uuid" pointer::is_uuid,
    JsonPointer "json-pointer" pointer::is_json_pointer,
    RelativeJsonPointer "relative-json-pointer" pointer::is_relative_json_pointer,
    Regex "regex" Pattern::is_valid,
}

#[cfg(test)]
mod tests;
