package history

// Phrase is the part of a server's text that tells its kind: a phrase that this
// package knows, such as "ConflictingOperationInProgress", and never anything else
// of the text. "" when there is none. CodeOf of a phrase is CodeOf of the text.
func Phrase(text string) string {
	_, phrase := phraseOf(text)
	return phrase
}
