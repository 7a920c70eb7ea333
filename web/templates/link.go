package templates

// Link is a name that leads somewhere.
type Link struct{ Text, URL string }
