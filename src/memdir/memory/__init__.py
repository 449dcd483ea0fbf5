"""What a memory is on disk: Markdown files and their index (F, M). No model, no network, no clock.

frontmatter.py  the header of a file, and changing one key of it
topic.py        text <-> Topic
entrypoint.py   MEMORY.md: what of it is loaded, pointers in and out
scan.py         directory -> headers
manifest.py     headers -> the lines a model reads; ages; harmless text
trash.py        deleted topics, until they are restored
store.py        MemoryDir, the only writer of memory files
words.py        text -> words to compare
rank.py         which of many texts fit a query
"""
