package mention

// AddTexts adds the words of texts, and not those of the keys: no volume has the name of a field.
func (w Words) AddTexts(value any) {
	switch value := value.(type) {
	case string:
		w.add(value)
	case []any:
		for _, item := range value {
			w.AddTexts(item)
		}
	case map[string]any:
		for _, item := range value {
			w.AddTexts(item)
		}
	}
}
