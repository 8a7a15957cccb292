package policy

// ClassesUpTo is Classes with another limit on their number.
func ClassesUpTo(limit int, on Surface, programs ...Program) *Cover {
	return classes(limit, on, programs)
}
