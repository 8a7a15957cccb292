// Package feature names what a compiler may support, so that a report can say
// which part of a specification was proven and which was left out.
//
// It follows Gateway API's model: a profile is a specification, and has core
// features, which everybody has to support who claims the profile, and extended
// ones, which are a choice. A case names the features that it needs; one that needs
// any extended feature counts as extended. The package is data: it decides nothing
// and knows no case.
package feature
