package words

// disks are the sentences about how full the shards' disks are.
var disks = map[string]string{
	"reason.title.noDisk": "The shard did not say how large its disk is. One that has nothing of the database that was asked about does not.",
}
