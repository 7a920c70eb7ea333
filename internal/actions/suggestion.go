package actions

import "shardboard/internal/message"

// Suggestion is a plan that resolves what a check found. Its arguments are texts, as in the
// address of a form: keys and bounds are Extended JSON.
type Suggestion struct {
	Kind Kind
	Args map[string]string
	Text message.Message // what it does, as the label of a link
}

// maxSuggestions bounds the plans that one check suggests.
const maxSuggestions = 6

// suggestion is a plan with its arguments as pairs of name and value.
func suggestion(k Kind, text message.Message, pairs ...string) Suggestion {
	s := Suggestion{Kind: k, Args: map[string]string{}, Text: text}
	for i := 0; i+1 < len(pairs); i += 2 {
		s.Args[pairs[i]] = pairs[i+1]
	}
	return s
}

// suggest adds a check with the plans that resolve what it found. Kinds that this version
// does not have are left out.
func (d *findings) suggest(c Check, plans ...Suggestion) {
	for _, p := range plans {
		if Known(p.Kind) && len(c.Plans) < maxSuggestions {
			c.Plans = append(c.Plans, p)
		}
	}
	d.check(c)
}
