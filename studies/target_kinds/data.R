# Writes tables of R's packages survival and MASS as CSV files: Rscript studies/target_kinds/data.R FOLDER
library(survival)
library(MASS)
folder <- commandArgs(trailingOnly = TRUE)[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
for (name in c("lung", "pbc", "colon", "quine", "housing", "birthwt", "survey", "cpus")) {
  write.csv(get(name), file.path(folder, paste0(name, ".csv")), row.names = FALSE)
}
