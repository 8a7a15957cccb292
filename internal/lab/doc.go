// Package lab turns files and folders into cases: case files into the cases that they
// state, and policy files, with the Dataplanes among them, into cases without requests.
//
// It guarantees that each file is read once and parsed once, and that no document is
// passed over: what is neither a case, nor a Dataplane, nor a policy of a known dialect
// is an error of whoever reads the policies. It asks no Envoy and decides nothing.
package lab
