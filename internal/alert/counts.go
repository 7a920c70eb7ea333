package alert

// Counts is what metrics tell of an engine.
type Counts struct {
	Firing int            // alerts whose problem has lasted
	Failed map[string]int // messages that failed in a row, by receiver
}

// Counts are those of now.
func (e *Engine) Counts() Counts {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := Counts{Failed: map[string]int{}}
	for _, t := range e.targets {
		c.Failed[t.Name] = t.last.Failed
	}
	for _, a := range e.alerts {
		if a.State == Firing {
			c.Firing++
		}
	}
	return c
}
