package api

// RangeShown is how pages show a key range, whose bounds JSON has as Extended JSON.
type RangeShown struct {
	Min, Max string     // bounds as people write them; "" if they are not known
	From     KeyProject // whose keys begin at Min
	Until    KeyProject // in whose keys Max is
	Chunk    string     // name of the range's chunk within a page, by which scripts find it; "" for none
	URL      string     // address of its collection; "" if there is none
	ChunkURL string     // address of the chunk that holds the lower bound now; "" if there is none
}

// Explained is a short text and the sentence that explains it.
type Explained struct{ Text, Why string }
