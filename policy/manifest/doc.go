// Package manifest reads the YAML in which policies and cases are written,
// strictly, and remembers where everything stood.
//
// It guarantees that every error names file, line and field in one line: malformed
// YAML, an unknown field, a wrong type, a value that its type refuses. It answers
// any input with a value or an error: it never panics, and its effort grows in step
// with the number of documents and of list items.
//
// The YAML it takes is the plain part that policies are written in: mappings
// with text keys, lists and scalars. Anchors, aliases, merge keys, tags and
// directives are refused with an error that says so; so are duplicate keys,
// nesting deeper than 100 levels and more than 10,000 keys in one mapping. Scalars are those of YAML 1.2: yes and no are
// text, true and false are not.
//
// It knows no schema of its own. The package that decodes a document knows what it
// means.
package manifest
