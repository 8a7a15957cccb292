// Package policyset draws sets of policies at random, as users write them: several policies
// of one dialect that select, overlap and hide each other, and the inbounds of one or two
// workloads.
//
// All names come from small alphabets whose members are alike (ns/a, ns/ab), because rules
// that never overlap test nothing. [Draw] makes a set of a seed and a number. [Ask] adds
// requests: for each inbound, some witnesses of request classes and their neighbours.
//
// The package guarantees that its sets are valid and the same on every machine. It does not
// guarantee that its requests cover a set: they are a bounded sample. It runs nothing.
package policyset
