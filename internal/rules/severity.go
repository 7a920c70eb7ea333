package rules

// Severity is how much a problem matters. Lists, alerts and the API use these
// names.
type Severity string

// The severities, greatest first.
const (
	Critical Severity = "critical"
	Warn     Severity = "warn"
	Info     Severity = "info"
)

// Level orders severities: 2 is critical, 0 info or unknown.
func (s Severity) Level() int {
	switch s {
	case Critical:
		return 2
	case Warn:
		return 1
	}
	return 0
}

// Name is the severity's name for people.
func (s Severity) Name() string {
	switch s {
	case Critical:
		return "critical"
	case Warn:
		return "warning"
	case Info:
		return "note"
	}
	return string(s)
}

// Meaning says what a severity asks of people; "" of an unknown one.
func (s Severity) Meaning() string {
	switch s {
	case Critical:
		return "Causes harm now and does not end by itself: act now."
	case Warn:
		return "Will cause harm, or costs speed or safety now: plan to act."
	case Info:
		return "No harm: good to know."
	}
	return ""
}
