"""What a memory is on disk: Markdown files and their index (F, M). No model, no network, no clock.

encoding.py     bytes <-> text, for all of them
frontmatter.py  the header of a file, and changing one key of it
topic.py        text <-> Topic
index_lines.py  MEMORY.md: which of its lines count
pointer.py      one line of it <-> Pointer
entrypoint.py   what of it is loaded, pointers in and out
index_file.py   the same on the disk
index_mending.py   the index put right by rules; what is wrong with it; index_state.py: what that goes by
reading.py      a file's beginning and status, from one opening
scan.py         directory -> headers
traits.py       what a memory says of itself: manual, warning, out of date
index/          all words of a directory, ready to be searched
fence.py        text of others -> text that stays data inside ours
manifest.py     headers -> the lines a model reads; ages
shown.py        how much of a memory is shown when it is recalled
trash.py        deleted topics, until they are restored
leaks.py        what is about to be written -> a refusal, if there is a secret in it
mending.py      what killed writers left is put right
store.py        MemoryDir, the only writer of memory files
words.py        text -> words to compare
rank.py         which of many texts fit a query
duplicates.py   which memories say the same
"""
