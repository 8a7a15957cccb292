// Package feature names the features of a compiler, so that a report can say which part
// of a specification was proven, and which part was left out.
//
// It follows the model of Gateway API. A [Profile] is a specification. Its core features
// are those that every compiler supports that claims the profile. Its extended features
// are a choice. A case names the features that it needs; a case that needs an extended
// feature counts as extended.
//
// The package is data: it decides nothing and knows no case.
package feature
