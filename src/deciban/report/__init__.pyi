from deciban.report.answers import Answer as Answer
from deciban.report.answers import in_words as in_words
from deciban.report.files import render as render
from deciban.report.files import render_classes as render_classes
from deciban.report.files import report_files as report_files
