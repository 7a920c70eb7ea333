package words

// orphaned is what is known of orphaned documents, the same on every page.
var orphaned = map[string]string{}
