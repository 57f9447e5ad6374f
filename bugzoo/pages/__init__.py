"""The catalogue as a site: a page for each fault, instrument and program, an index by symptom, and what is proved.

Every word comes from the files that own it and every number from the ledger; the curves are run when the site is made.
`site.build` writes Markdown and hands it to mkdocs.
"""
