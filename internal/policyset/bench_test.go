package policyset

import "testing"

func BenchmarkAsk(b *testing.B) {
	n, decisions := uint64(0), 0
	for b.Loop() {
		s, err := Ask(Draw(1, n), 1, n)
		if err != nil {
			b.Fatal(err)
		}
		n++
		decisions += len(s.Case.Requests)
	}
	b.ReportMetric(float64(decisions)/float64(n), "decisions/set")
}

func BenchmarkDraw(b *testing.B) {
	n := uint64(0)
	for b.Loop() {
		Draw(1, n)
		n++
	}
}
