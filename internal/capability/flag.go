package capability

// Flag is an option as a flag of a command.
type Flag struct {
	// Key is the key of the option in [language.Options].
	Key string
	// Name is that of the flag.
	Name string
	// Values are the texts to choose from, the default first; nil means any text, and
	// the empty one by default.
	Values []string
	// Usage is a phrase for the help of a command.
	Usage string
	// UsageOfSet is Usage where two sets of policies are compared and may differ in
	// the option; %s is the name of one set. It is empty where they may not differ.
	UsageOfSet string
	// Value returns what stands behind the key in YAML for a text of the flag. Its
	// error lists the known texts.
	Value func(text string) (string, error)
}

// Flagger is a dialect whose options are flags of commands.
type Flagger interface {
	Flags() []Flag
}
