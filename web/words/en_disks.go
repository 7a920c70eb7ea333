package words

// disks are the sentences about how full the shards' disks are.
var disks = map[string]string{}
