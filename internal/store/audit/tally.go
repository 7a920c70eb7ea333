package audit

import "strconv"

// tally counts distinct texts, up to a limit.
type tally struct {
	seen map[string]struct{}
	more bool
}

func (t *tally) add(text string, most int) (news bool) {
	if _, ok := t.seen[text]; ok {
		return false
	}
	if len(t.seen) >= most {
		t.more = true
		return false
	}
	if t.seen == nil {
		t.seen = map[string]struct{}{}
	}
	t.seen[text] = struct{}{}
	return true
}

// only is the single text counted; "" when there were several.
func (t *tally) only() string {
	if len(t.seen) == 1 && !t.more {
		for text := range t.seen {
			return text
		}
	}
	return ""
}

func (t *tally) String() string {
	if t.more {
		return "more than " + strconv.Itoa(len(t.seen))
	}
	return strconv.Itoa(len(t.seen))
}
