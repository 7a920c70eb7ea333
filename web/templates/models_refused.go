package templates

// Refused is what whoever runs shardboard needs to know of a refused sign-in.
type Refused struct {
	Advice string
	Claims []string // a line for each place that claims came from
}
