package overlap

// set is a set of targets, by their indexes. All sets of a space have the same length.
type set []uint64

func newSet(size int) set { return make(set, (size+63)/64) }

func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// isWithin reports whether another set has all of this one.
func (s set) isWithin(other set) bool {
	for i, word := range s {
		if word&^other[i] != 0 {
			return false
		}
	}
	return true
}

// isSameAmong reports whether two sets have the same of a third one.
func (s set) isSameAmong(other, among set) bool {
	for i, word := range s {
		if (word^other[i])&among[i] != 0 {
			return false
		}
	}
	return true
}

func (s set) intersect(other set) set {
	out := make(set, len(s))
	for i, word := range s {
		out[i] = word & other[i]
	}
	return out
}
