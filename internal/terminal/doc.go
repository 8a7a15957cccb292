// Package terminal prints what people read: signs and colours, tables, counted nouns,
// words for a shell, and the JSON form of results.
//
// It guarantees that text from a file cannot steer a terminal, see [Printable], and that
// a failed write is not lost, see [Output]. It knows nothing of what is printed.
package terminal
