// Package messages reads protobuf messages that others wrote: in binary form, as JSON,
// packed in an Any or in a TypedStruct.
//
// It guarantees that it tells what a message loses on the way: a type that is not linked
// into the program, a field or an enumerator that its definition does not have here, a
// nesting that is too deep. Bad input is an error or a [Fault], never a panic. It does
// not know what a message means.
package messages
