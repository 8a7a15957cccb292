package labelselector

// Shared counts the labels, or the tags, that two workloads have in common.
func Shared(a, b map[string]string) (n int) {
	for key, value := range a {
		if other, ok := b[key]; ok && other == value {
			n++
		}
	}
	return n
}
