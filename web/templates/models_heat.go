package templates

// HeatLine is the load of one thing in a sentence that says its time, because
// it may stand on a page that is not drawn anew with every count.
type HeatLine struct{ Text, URL string }
