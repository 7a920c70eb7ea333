package history

// Phrase is the known phrase in a server's text that decides its kind, such as
// "ConflictingOperationInProgress", and never any other part of the text; "" when there is none.
// CodeOf returns the same for the phrase as for the text.
func Phrase(text string) string {
	_, phrase := phraseOf(text)
	return phrase
}
