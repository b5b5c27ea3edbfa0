//! What `$id`, anchors and references say to each other: which schema of this document a reference leads to.
//! There is no other document: nothing is ever fetched, the drafts' own meta-schemas included.

use super::compile::{Compiler, Here};
use super::draft::{Draft, Word};
use super::fault::Fix;
use super::node::{DynamicAnchor, Keyword, Location, LocationStep, Named, NodeId, RECURSIVE, TRUE};
use super::uri::{decode, resolve, split_fragment};
use crate::json::{Object, Value};
use crate::limits::SCHEMA_URIS_BYTES_MAX;
use std::collections::{BTreeMap, BTreeSet};

/// A schema with a base URI of its own.
struct Resource<'v> {
    uri: String,
    root: &'v Value,
    node: NodeId,
}

/// What a name stands for.
#[derive(Clone, Copy)]
struct Meaning {
    /// A resource, or the node of an anchor.
    is: u32,
    /// For an anchor: whether a dynamic reference may land elsewhere.
    dynamic: bool,
    /// It was given to more than one schema.
    ambiguous: bool,
}

/// One `$ref`, `$dynamicRef` or `$recursiveRef`.
struct Reference<'v> {
    word: Word,
    text: &'v str,
    /// Index into the table of targets.
    target: u32,
    here: Here,
}

pub(super) struct References<'v> {
    resources: Vec<Resource<'v>>,
    ids: BTreeMap<String, Meaning>,
    anchors: BTreeMap<(u32, &'v str), Meaning>,
    noted: Vec<Reference<'v>>,
    /// The node of every schema that the walk came by, by address of its value.
    walked: Vec<(usize, NodeId)>,
    /// The same for schemas that only a reference makes one; `None` until the walk is over.
    late: Option<BTreeMap<usize, NodeId>>,
    dynamic_anchors: Vec<DynamicAnchor>,
    /// Nodes with `$recursiveAnchor: true`.
    recursive: BTreeSet<NodeId>,
    /// Names of dynamic anchors by number; number [`RECURSIVE`] is taken.
    dynamic_names: BTreeMap<&'v str, u32>,
    uri_bytes: usize,
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value) as usize
}

impl<'v> References<'v> {
    pub(super) fn new(root: &'v Value) -> Self {
        References {
            resources: vec![Resource {
                uri: String::new(),
                root,
                node: TRUE,
            }],
            ids: BTreeMap::new(),
            anchors: BTreeMap::new(),
            noted: Vec::new(),
            walked: Vec::new(),
            late: None,
            dynamic_anchors: Vec::new(),
            recursive: BTreeSet::new(),
            dynamic_names: BTreeMap::new(),
            uri_bytes: 0,
        }
    }

    /// Remembers which node a value became.
    pub(super) fn remember(&mut self, value: &Value, node: NodeId) {
        match &mut self.late {
            None => self.walked.push((address(value), node)),
            Some(late) => _ = late.insert(address(value), node),
        }
    }

    /// The node of a value, once the walk is over.
    pub(super) fn compiled_late(&self, value: &Value) -> Option<NodeId> {
        let late = self.late.as_ref()?;
        let address = address(value);
        let walked = self
            .walked
            .binary_search_by_key(&address, |(address, _)| *address);
        walked
            .ok()
            .map(|index| self.walked[index].1)
            .or_else(|| late.get(&address).copied())
    }

    pub(super) fn note(&mut self, word: Word, text: &'v str, target: u32, here: Here) {
        self.noted.push(Reference {
            word,
            text,
            target,
            here,
        });
    }

    /// Resolves a URI against a resource's; `None` if all such URIs together grow too long.
    fn resolve(&mut self, resource: u32, uri: &str) -> Option<String> {
        let base = &self.resources[resource as usize].uri;
        self.uri_bytes += base.len() + uri.len();
        (self.uri_bytes <= SCHEMA_URIS_BYTES_MAX).then(|| resolve(base, uri))
    }

    fn name_anchor(&mut self, resource: u32, name: &'v str, node: NodeId, dynamic: bool) {
        let meaning = self.anchors.entry((resource, name)).or_insert(Meaning {
            is: node,
            dynamic,
            ambiguous: false,
        });
        meaning.ambiguous |= meaning.is != node;
        meaning.dynamic |= dynamic;
        if dynamic {
            let next = self.dynamic_names.len() as u32 + RECURSIVE + 1;
            let number = *self.dynamic_names.entry(name).or_insert(next);
            self.name_dynamic(number, resource, node);
        }
    }

    fn name_dynamic(&mut self, name: u32, resource: u32, node: NodeId) {
        let anchor = DynamicAnchor { name, resource, node };
        self.dynamic_anchors.push(anchor);
    }

    pub(super) fn take_dynamic_anchors(&mut self) -> Vec<DynamicAnchor> {
        let mut anchors = std::mem::take(&mut self.dynamic_anchors);
        anchors.sort_unstable();
        anchors
    }
}

impl<'v> Compiler<'v> {
    /// Takes note of what a schema calls itself; the resource that its parts belong to.
    pub(super) fn identify(
        &mut self,
        value: &'v Value,
        object: &'v Object,
        here: Here,
        node: NodeId,
        only_ref: bool,
    ) -> u32 {
        let is_root = self.references.resources[0].node == TRUE;
        if is_root {
            self.references.resources[0].node = node;
        }
        if only_ref {
            return here.resource;
        }
        let word = if self.draft == Draft::Draft04 {
            Word::Id
        } else {
            Word::DollarId
        };
        let id = object.get(word.as_str()).and_then(Value::as_str);
        let resource = match id {
            Some(id) => self.identify_by(id, value, here, node, is_root),
            None => here.resource,
        };
        // An anchor in a place that is a schema only because a reference says so names nothing outside it.
        let nameless = self.references.late.is_some() && resource == here.resource;
        if self.draft < Draft::Draft201909 || nameless {
            return resource;
        }
        for (name, dynamic) in [("$anchor", false), ("$dynamicAnchor", true)] {
            let anchor = object.get(name).and_then(Value::as_str);
            if let Some(anchor) = anchor.filter(|_| !dynamic || self.draft == Draft::Draft202012) {
                self.references.name_anchor(resource, anchor, node, dynamic);
            }
        }
        if self.draft == Draft::Draft201909
            && (is_root || resource != here.resource)
            && object.get("$recursiveAnchor").and_then(Value::as_bool) == Some(true)
        {
            self.references.recursive.insert(node);
            self.references.name_dynamic(RECURSIVE, resource, node);
        }
        resource
    }

    fn identify_by(&mut self, id: &'v str, value: &'v Value, here: Here, node: NodeId, is_root: bool) -> u32 {
        let word = if self.draft == Draft::Draft04 {
            Word::Id
        } else {
            Word::DollarId
        };
        let (uri, fragment) = split_fragment(id);
        let fragment = fragment.filter(|fragment| !fragment.is_empty());
        let late = self.references.late.is_some();
        let mut resource = here.resource;
        if !uri.is_empty() {
            let Some(uri) = self.references.resolve(here.resource, uri) else {
                self.faults.add(here.spotted(Some(word)), Fix::LongIds);
                return resource;
            };
            let is_the_same = self.references.resources[resource as usize].uri == uri && fragment.is_some();
            if is_root {
                self.references.resources[0].uri.clone_from(&uri);
            } else if !is_the_same {
                resource = self.references.resources.len() as u32;
                self.references.resources.push(Resource {
                    uri: uri.clone(),
                    root: value,
                    node,
                });
            }
            if !late && !is_the_same {
                let meaning = self.references.ids.entry(uri).or_insert(Meaning {
                    is: resource,
                    dynamic: false,
                    ambiguous: false,
                });
                meaning.ambiguous |= meaning.is != resource;
            }
        }
        if let Some(name) = fragment
            && self.draft <= Draft::Draft07
            && (!late || resource != here.resource)
        {
            self.references.name_anchor(resource, name, node, false);
        }
        resource
    }

    /// Finds the target of every reference, compiling the schemas that only references lead to. A chain of
    /// references is a queue here, not a recursion.
    pub(super) fn resolve_references(&mut self) {
        if self.references.noted.is_empty() {
            return;
        }
        self.references.walked.sort_unstable();
        self.references.late = Some(BTreeMap::new());
        let mut next = 0;
        let mut dynamic = Vec::new();
        while next < self.references.noted.len() {
            let Reference {
                word,
                text,
                target,
                here,
            } = self.references.noted[next];
            next += 1;
            match self.lead(text, here) {
                Ok((node, name)) => {
                    self.tables.targets[target as usize] = node;
                    if word != Word::Ref {
                        dynamic.push((target, self.dynamic_name(word, node, name)));
                    }
                }
                Err(fix) => self.faults.add(here.spotted(Some(word)), fix),
            }
        }
        if dynamic.is_empty() {
            return;
        }
        dynamic.sort_unstable();
        for keyword in &mut self.tables.keywords {
            if let Keyword::DynamicRef(target, name) = keyword
                && let Ok(index) = dynamic.binary_search_by_key(target, |(target, _)| *target)
            {
                match dynamic[index].1 {
                    Some(number) => *name = number,
                    None => *keyword = Keyword::Ref(*target),
                }
            }
        }
        self.tables.dynamic = dynamic.iter().any(|(_, name)| name.is_some());
    }

    /// The number of the dynamic anchor that a reference goes by, if it is one that does.
    fn dynamic_name(&self, word: Word, node: NodeId, name: Option<u32>) -> Option<u32> {
        match word {
            Word::DynamicRef => name,
            Word::RecursiveRef => self.references.recursive.contains(&node).then_some(RECURSIVE),
            _ => None,
        }
    }

    /// The node that a reference leads to, and the number of its anchor if that is a dynamic one.
    fn lead(&mut self, text: &'v str, here: Here) -> Result<(NodeId, Option<u32>), Fix> {
        let (uri, fragment) = split_fragment(text);
        let mut resource = here.resource;
        if !uri.is_empty() {
            let uri = self.references.resolve(resource, uri).ok_or(Fix::LongIds)?;
            let own = self.references.resources[resource as usize].uri == uri;
            if !own {
                let meaning = self.references.ids.get(&uri).ok_or(Fix::Unresolved)?;
                if meaning.ambiguous {
                    return Err(Fix::Ambiguous);
                }
                resource = meaning.is;
            }
        }
        let fragment = fragment.unwrap_or_default();
        if fragment.is_empty() {
            return Ok((self.references.resources[resource as usize].node, None));
        }
        let decoded = decode(fragment).ok_or(Fix::Unresolved)?;
        if decoded.starts_with('/') {
            return self.follow(&decoded, resource).map(|node| (node, None));
        }
        let name = decoded.as_str();
        let meaning = self
            .references
            .anchors
            .get(&(resource, name))
            .ok_or(Fix::Unresolved)?;
        if meaning.ambiguous {
            return Err(Fix::Ambiguous);
        }
        let number = self.references.dynamic_names.get(name).copied();
        Ok((meaning.is, number.filter(|_| meaning.dynamic)))
    }

    /// Follows a JSON pointer from the root of a resource.
    fn follow(&mut self, pointer: &str, resource: u32) -> Result<NodeId, Fix> {
        let mut value = self.references.resources[resource as usize].root;
        let mut nearest = self.references.resources[resource as usize].node;
        let mut at = 0;
        let mut depth = 0;
        // The steps below the nearest schema.
        let mut steps = Vec::new();
        for token in pointer.split('/').skip(1) {
            let name = token.replace("~1", "/").replace("~0", "~");
            depth += 1;
            value = match value {
                Value::Object(object) => {
                    let index = object.position(&name).map_err(|_| Fix::Unresolved)?;
                    let member = &object.members()[index];
                    at = member.at;
                    steps.push((Some(&member.name), 0));
                    &member.value
                }
                Value::Array(elements) => {
                    let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
                    let index = name
                        .parse()
                        .ok()
                        .filter(|_| digits && (name == "0" || !name.starts_with('0')));
                    let index: usize = index.ok_or(Fix::Unresolved)?;
                    steps.push((None, index as u32));
                    elements.get(index).ok_or(Fix::Unresolved)?
                }
                _ => return Err(Fix::Unresolved),
            };
            if let Some(node) = self.references.compiled_late(value) {
                nearest = node;
                steps.clear();
            }
        }
        if steps.is_empty() {
            return Ok(nearest);
        }
        if !matches!(value, Value::Object(_) | Value::Bool(_)) {
            return Err(Fix::Unresolved);
        }
        let nearest = &self.tables.nodes[nearest as usize];
        let (mut location, resource) = (nearest.location, nearest.resource);
        for (name, index) in steps {
            let step = match name {
                None => LocationStep::Index(index),
                Some(name) => {
                    self.tables.named.push(Named {
                        name: name.clone(),
                        node: TRUE,
                    });
                    LocationStep::Name(self.tables.named.len() as u32 - 1)
                }
            };
            self.tables.locations.push(Location {
                parent: location,
                step,
            });
            location = self.tables.locations.len() as u32 - 1;
        }
        let here = Here {
            location,
            resource,
            at,
            depth,
        };
        Ok(self.schema(value, here))
    }
}
