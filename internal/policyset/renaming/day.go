package renaming

import "time"

const (
	day = 24 * time.Hour
	// dayBits are those of a seed that say nothing of the day.
	dayBits = 32
)

// Seed returns a seed of a run that is made at that time, with 32 bits that were chosen at random. The objects of whole clusters are as old then
// as they are on that day: a compiler that looks for young ones finds them. The seed draws the same sets on any other day.
func Seed(now time.Time, chosen uint32) uint64 {
	return uint64(now.Unix()/int64(day/time.Second))<<dayBits | uint64(chosen)
}

// dayOf returns the day of a seed. One that a person writes has none, and is of a day on which this was written.
func dayOf(seed uint64) time.Time {
	if of := seed >> dayBits; of > 0 && of < 1<<16 {
		return time.Unix(0, 0).UTC().Add(time.Duration(of) * day)
	}
	return time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
}
