from deciban.report.files import report_files as report_files
from deciban.report.rendering import render as render
from deciban.report.rendering import render_classes as render_classes
