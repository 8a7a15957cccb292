package renaming

// Firsts are the first characters that take turns.
const Firsts = firsts

// AccountsIn returns the service accounts that policies name.
func AccountsIn(v any) []string { return accountsIn(v) }
