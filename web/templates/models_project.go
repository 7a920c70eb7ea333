package templates

// ErrorModel is a request that could not be answered.
type ErrorModel struct {
	Status int
	Title  string
	Text   string
	Advice string
}
