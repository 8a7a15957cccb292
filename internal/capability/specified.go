package capability

// Specified is a dialect that says which fields its documents may have in their spec: a document that has none of them there, and has lost its
// kind, is none of the dialect.
type Specified interface {
	// SpecFields returns these fields, of all kinds that the dialect reads.
	SpecFields() []string
}
