package topology

// Inconsistency is one finding of checkMetadataConsistency (7.0 and later). Every text is the server's.
type Inconsistency struct {
	Kind        string // the server's name, such as RoutingTableRangeGap
	Description string
	NS          Namespace // "" where the finding names none
	Shard       string    // likewise
	Details     string    // all that it names, as relaxed Extended JSON of at most 2,000 bytes; can have values of shard keys
}
