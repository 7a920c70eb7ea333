package templates

// Acts are the changes that can be planned of a thing, and those that cannot
// be, with the reason. The zero Acts are not drawn.
type Acts struct {
	Title string
	Lead  string // what the choice leads to
	List  []Act
}

// Act is one change: it leads to a form, and nothing happens at the click.
type Act struct {
	Text string
	URL  string // "" when it cannot be done now
	Why  string // why not
}

// PlanForm asks for what a plan still needs.
type PlanForm struct {
	Title   string
	Lead    string
	Kind    string
	Problem string
	Fixed   []PlanField // of the thing that the form was opened on
	Fields  []PlanField
	Reason  string
	Kinds   []Act // instead of a form, where no kind is chosen yet
}

// PlanField is one argument in a form.
type PlanField struct {
	Name, Label, Hint string
	Value, Shown      string // Shown stands for a Value that is not for reading
	Placeholder       string
	Options           []Option // not empty: a choice
	Needed            bool
	Tick              bool // a checkbox of the value "true"
	Mono              bool
}

// Hidden is a value that a form carries along.
type Hidden struct{ Name, Value string }
