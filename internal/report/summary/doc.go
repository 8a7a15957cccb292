// Package summary prints runs of cases for people: a table for each story, why cases
// failed, where runs differ, and a line that counts. The JSON form of a run is that of
// [report.Run].
//
// It guarantees that every failure is printed. It decides nothing: a [Tally] only counts.
package summary
