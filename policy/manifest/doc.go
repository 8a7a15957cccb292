// Package manifest reads the YAML of policies and cases. It is strict, and it remembers
// the place of every value.
//
// It guarantees that every error is one line with file, line and field: malformed YAML,
// an unknown field, a wrong type, a value that its type refuses. Any input gives a value
// or an error and never a panic. The effort grows in step with the number of documents
// and of list items.
//
// It guarantees too that kubectl reads the same documents: data that its parser reads
// otherwise are refused, but for case files, which no other program reads. A word such as
// yes without quotes is a boolean for kubectl, and so it is one here: where a text is wanted
// it is refused, as an API server does.
//
// It reads mappings with text keys, lists and scalars. An alias stands for the value of its
// anchor, and a merge key for the entries of a mapping: kubectl reads them alike, or they are
// refused, as they are in case files. It refuses tags and directives, keys that are there twice,
// more than 100 levels of nesting, and more than 10,000 keys in one mapping. Scalars follow YAML 1.2, but for the
// words of kubectl: in a case file yes and no are text.
//
// Its only schema is a list of objects, which counts as its objects. The types
// that a document is decoded into are its schema.
package manifest
