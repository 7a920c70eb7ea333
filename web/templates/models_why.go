package templates

// WhyProject is why a project's own chunks are where they are.
type WhyProject struct {
	Collections []WhyCollection
}

// WhyCollection is one collection of a project.
type WhyCollection struct {
	NS, Name, URL string
	Text          string
	Chunks        []WhyProjectChunk
	More          int // chunks not listed
}

// WhyProjectChunk is one chunk with the decision alone; its page has the rest.
type WhyProjectChunk struct {
	Title, URL string
	Shard      ShardRef
	Text       string
}
