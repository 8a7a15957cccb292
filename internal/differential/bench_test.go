package differential

import "testing"

func BenchmarkNewSet(b *testing.B) {
	n, decisions := uint64(0), 0
	for b.Loop() {
		s, err := newSet(Generate(1, n), 1, n)
		if err != nil {
			b.Fatal(err)
		}
		n++
		decisions += len(s.reading.Case.Requests)
	}
	b.ReportMetric(float64(decisions)/float64(n), "decisions/set")
}

func BenchmarkGenerate(b *testing.B) {
	n := uint64(0)
	for b.Loop() {
		Generate(1, n)
		n++
	}
}
