package api

// Offer is a change that a page offers: a link to its form, where nothing happens yet, or why it
// cannot be planned now. Only pages have offers.
type Offer struct {
	Text string
	URL  string // "" if it cannot be planned now
	Why  string // why not
}
