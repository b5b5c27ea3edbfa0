//! U-labels: which texts IDNA2008 allows as labels (RFC 5891 to RFC 5893).

use crate::check::schema::pattern::property::table;
use crate::check::schema::pattern::set::Set;
use std::sync::LazyLock;
use unicode_bidi::BidiClass;
use unicode_joining_type::{JoiningType, get_joining_type};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// The canonical combining class of viramas.
const VIRAMA: u8 = 9;
const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';

/// Sets by Unicode's tables, made when first asked for.
macro_rules! sets {
    ($($name:ident $($query:literal)|+;)*) => {
        $(static $name: LazyLock<Set> = LazyLock::new(|| {
            let sets = [$($query),+].map(|query| table(query).unwrap_or_default());
            Set::from_ranges(sets.iter().flat_map(|set| set.ranges().iter().copied()))
        });)*
    };
}

sets! {
    MARKS "gc=M";
    // `LetterDigits` of RFC 5892, section 2.1.
    LETTERS_AND_DIGITS "gc=Ll" | "gc=Lu" | "gc=Lo" | "gc=Nd" | "gc=Lm" | "gc=Mn" | "gc=Mc";
    // `IgnorableProperties`, section 2.3; and what folding case changes, half of `Unstable`, section 2.2.
    IGNORABLE "Default_Ignorable_Code_Point" | "White_Space" | "Noncharacter_Code_Point";
    FOLDED "Changes_When_Casefolded";
    GREEK "sc=Greek";
    HEBREW "sc=Hebrew";
    HIRAGANA_KATAKANA_HAN "sc=Hiragana" | "sc=Katakana" | "sc=Han";
}

/// Whether a text may be a label with characters beyond ASCII; its length is the caller's matter.
pub(super) fn is_u_label(label: &str) -> bool {
    let chars: Vec<char> = label.chars().collect();
    let hyphens_fit =
        chars.first() != Some(&'-') && chars.last() != Some(&'-') && chars.get(2..4) != Some(&['-', '-']);
    hyphens_fit
        && chars.first().is_some_and(|first| !MARKS.contains(*first))
        && (0..chars.len()).all(|at| is_allowed(&chars, at))
        && label.nfc().eq(chars.iter().copied())
        && meets_bidi_rule(&chars)
}

/// Whether the character at a place of a label is PVALID, or CONTEXTJ or CONTEXTO and its rule holds (RFC 5892,
/// section 2.6, appendix A and section 3, in this order).
fn is_allowed(label: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| label[at]);
    let after = label.get(at + 1).copied();
    match label[at] {
        'ß' | 'ς' | '\u{6fd}' | '\u{6fe}' | '\u{f0b}' | '\u{3007}' => true,
        '\u{640}' | '\u{7fa}' | '\u{302e}' | '\u{302f}' | '\u{3031}'..='\u{3035}' | '\u{303b}' => false,
        '\u{b7}' => before == Some('l') && after == Some('l'),
        '\u{375}' => after.is_some_and(|c| GREEK.contains(c)),
        '\u{5f3}' | '\u{5f4}' => before.is_some_and(|c| HEBREW.contains(c)),
        '\u{30fb}' => label.iter().any(|c| HIRAGANA_KATAKANA_HAN.contains(*c)),
        '\u{660}'..='\u{669}' => !label.iter().any(|c| matches!(c, '\u{6f0}'..='\u{6f9}')),
        '\u{6f0}'..='\u{6f9}' => !label.iter().any(|c| matches!(c, '\u{660}'..='\u{669}')),
        '-' | '0'..='9' | 'a'..='z' => true,
        ZERO_WIDTH_NON_JOINER => follows_virama(before) || joins(label, at),
        ZERO_WIDTH_JOINER => follows_virama(before),
        c => {
            LETTERS_AND_DIGITS.contains(c)
                && !is_unstable(c)
                && !IGNORABLE.contains(c)
                && !is_in_ignorable_block(c)
        }
    }
}

/// `Unstable`: normalising and folding case would change it.
fn is_unstable(c: char) -> bool {
    FOLDED.contains(c) || !std::iter::once(c).nfkc().eq([c])
}

/// `IgnorableBlocks` and `OldHangulJamo`, sections 2.4 and 2.9.
fn is_in_ignorable_block(c: char) -> bool {
    matches!(c,
        '\u{20d0}'..='\u{20ff}' | '\u{1d100}'..='\u{1d24f}'
        | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{d7b0}'..='\u{d7ff}')
}

fn follows_virama(before: Option<char>) -> bool {
    before.is_some_and(|c| canonical_combining_class(c) == VIRAMA)
}

/// Whether the letters around a place join across it, transparent ones aside.
fn joins(label: &[char], at: usize) -> bool {
    use JoiningType::{DualJoining, LeftJoining, RightJoining, Transparent};
    let types = |c: &char| Some(get_joining_type(*c)).filter(|joining| *joining != Transparent);
    let before = label[..at].iter().rev().find_map(types);
    let after = label[at + 1..].iter().find_map(types);
    matches!(before, Some(LeftJoining | DualJoining)) && matches!(after, Some(RightJoining | DualJoining))
}

/// The rule of RFC 5893, section 2, for labels with characters written from right to left.
fn meets_bidi_rule(label: &[char]) -> bool {
    use BidiClass::{AL, AN, BN, CS, EN, ES, ET, L, NSM, ON, R};
    let classes: Vec<BidiClass> = label.iter().map(|c| unicode_bidi::bidi_class(*c)).collect();
    if !classes.iter().any(|class| matches!(class, R | AL | AN)) {
        return true;
    }
    let last = classes.iter().rev().find(|class| **class != NSM);
    matches!(classes.first(), Some(R | AL))
        && classes
            .iter()
            .all(|class| matches!(class, R | AL | AN | EN | ES | CS | ET | ON | BN | NSM))
        && matches!(last, Some(R | AL | EN | AN))
        && !(classes.contains(&EN) && classes.contains(&AN))
        && !classes.contains(&L)
}
