// Package manifest reads the YAML in which policies and cases are written,
// strictly, and remembers where everything stood.
//
// It guarantees that every error, be it malformed YAML, an unknown field, a
// wrong type or a value that its type refuses, is one line that names file, line
// and field, and that input of any shape is answered with a value or an error:
// it never panics, and its effort grows in step with the number of documents and
// of list items.
//
// The YAML it takes is the plain part that policies are written in: mappings
// with text keys, lists and scalars. Anchors, aliases, merge keys, tags and
// directives are refused with an error that says so; so are duplicate keys,
// nesting deeper than 100 levels and more than 10,000 keys in one mapping. Scalars are those of YAML 1.2: yes and no are
// text, true and false are not.
//
// It knows no schema of its own. What a document means is the business of
// whoever decodes it.
package manifest
