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
