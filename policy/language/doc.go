// Package language says what a dialect of policies is: the interface that every
// dialect implements, and the types that its methods share.
//
// A new dialect is a package with one value of type [Dialect], and one line in
// the list of package policy/dialect. It imports this package, policy and
// policy/manifest. Nothing else has to know it: the options of a dialect are one
// document that is passed on unread, and what only one dialect can do is a small
// interface beside [Dialect], such as [Converter].
//
// The package guarantees that a dialect can be added without a change to the packages
// that use dialects. It holds no rule of its own and imports no dialect.
package language
