package rules

// Summary is a view in one line: what headlines, the status dot and counts are
// made of, so that no two of them can disagree.
type Summary struct {
	Critical, Warn, Info int // open problems; dismissed ones are not among them
	Dismissed            int // problems that exist and that somebody dismissed
	Rules                int // of which so many
	Unchecked            int // could not be checked, wholly or in part
	NotAvailable         int // cannot be checked on this MongoDB release
}

// Open is the number of open problems.
func (s Summary) Open() int { return s.Critical + s.Warn + s.Info }

// Worst is the greatest severity of an open problem; "" while there is none.
func (s Summary) Worst() Severity {
	switch {
	case s.Critical > 0:
		return Critical
	case s.Warn > 0:
		return Warn
	case s.Info > 0:
		return Info
	}
	return ""
}

// Clear tells whether there is no problem and nothing that could not be checked. A rule that the
// release cannot answer does not count: a page that lists rules says so.
func (s Summary) Clear() bool { return s.Open() == 0 && s.Unchecked == 0 }

// Summary counts the problems of a view.
func (v View) Summary() Summary { return v.SummaryOf(func(Rule) bool { return true }) }

// SummaryOf counts the problems that some of the rules find.
func (v View) SummaryOf(is func(Rule) bool) (out Summary) {
	for _, r := range Rules() {
		if is(r) {
			out.Rules++
		}
	}
	for _, p := range v.Items {
		switch {
		case !is(p.Rule):
		case p.Severity == Critical:
			out.Critical++
		case p.Severity == Warn:
			out.Warn++
		default:
			out.Info++
		}
	}
	for _, d := range v.Dismissed {
		if d.Problem.ID != "" && is(d.Problem.Rule) {
			out.Dismissed++
		}
	}
	unsure, never := map[Rule]bool{}, map[Rule]bool{}
	for _, u := range v.Unsure {
		switch {
		case !is(u.Rule):
		case u.Never:
			never[u.Rule] = true
		default:
			unsure[u.Rule] = true
		}
	}
	out.Unchecked, out.NotAvailable = len(unsure), len(never)
	return out
}
