// Package renaming gives a case other names: those of workloads, namespaces, labels, policies, trust domains, paths, ports and
// addresses. It also adds what decides nothing, as clusters have it.
//
// It guarantees that names that begin with each other still do, that what has a meaning of its own stays, and that the
// same arguments give the same case. It does not guarantee that the new policies are valid: what makes a set of them reads
// them.
package renaming

// Names are the new names of a case, as they were chosen. Some may still be replaced.
type Names struct{ words *words }

// New returns the new name of a name, or of each word of a text.
func (n Names) New(text string) string { return n.words.replace(n.words.names, text) }

// NewDomain returns the new name of a trust domain of the case, and "" for any other text.
func (n Names) NewDomain(text string) string { return n.words.domains[text] }

// Stays reports whether a name has a meaning of its own, so that it stays.
func (n Names) Stays(name string) bool { return n.words.kept[name] }

// AreShort reports whether the names of ports and labels have the bounds of Kubernetes.
func (n Names) AreShort() bool { return n.words.short }

// Replace gives a whole name another new name, wherever it stands.
func (n Names) Replace(name, to string) { n.words.wholes[name] = to }

// ReplaceDomain gives a trust domain of the case another new name.
func (n Names) ReplaceDomain(name, to string) { n.words.domains[name] = to }
