package templates

// Option is one choice of a select element.
type Option struct {
	Value, Text string
	Selected    bool
}
